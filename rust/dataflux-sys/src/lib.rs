//! The C ABI of dataflux, as its header declares it; the crate `dataflux` is the safe one.
//!
//! `dataflux.h` is the contract of every function here: what it does, its failures, who may call it
//! on which thread, and how long memory is lent. Declarations are made from the header's description.
//! The compiler checks the layout of each struct.
//!
//! # How the library is found
//!
//! 1. By the variable `DATAFLUX_LIB_DIR`, a folder with `libdataflux.so`.
//! 2. By the feature `bundled`: CMake builds the tree that this crate lies in.
//! 3. By `pkg-config dataflux-c`, as an installed library is.
//!
//! A program finds it at run time as any shared library: by the system's folders, an rpath, or
//! `LD_LIBRARY_PATH`. Crates that depend on this one are told its folder as `DEP_DATAFLUX_LIB_DIR`.
#![no_std]

#[allow(non_camel_case_types, missing_docs)]
#[rustfmt::skip]
mod abi;

pub use abi::*;
