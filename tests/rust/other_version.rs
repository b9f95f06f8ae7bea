//! A libdataflux of the future, as far as its version goes; it is loaded before the real one.

/// The interface of version 2.1.
#[unsafe(no_mangle)]
pub extern "C" fn dataflux_abi_version() -> u32 {
    2001
}
