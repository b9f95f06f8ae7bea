#pragma once

#include <dataflux/version.hpp>

// #error alone goes on, with a thousand lines that hide it; a file that is missing ends the
// compiler.
#if !defined(__cplusplus) || __cplusplus < 202002L
#error "dataflux needs C++20: compile with -std=c++20"
#include <dataflux/needs-c++20>
#endif
#if !defined(__linux__)
#error "dataflux supports Linux only: it drives epoll and eventfd directly"
#include <dataflux/needs-linux>
#endif

/// How definitions are emitted, and the only macros that change it. No macro changes a layout.
///
/// Default (header-only): every header includes its `impl/*.ipp`, whose functions are `inline`.
/// With DATAFLUX_COMPILED (set by the CMake target dataflux::compiled) headers declare only, and
/// `src/*.cpp` holds the one copy. The inline namespace differs between the two, so that a program
/// which mixes them fails at link time instead of at run time.
///
/// A virtual function has DATAFLUX_INLINE in its class, too. Else it is the key function for g++,
/// which emits the vtable with all that it reaches into every source that includes the header.
#if defined(DATAFLUX_COMPILED)
#define DATAFLUX_ABI v0
#define DATAFLUX_INLINE
#else
#define DATAFLUX_ABI v0_header_only
#define DATAFLUX_INLINE inline
#if !defined(__cpp_exceptions)
#error "header-only dataflux needs exceptions; with -fno-exceptions link dataflux::compiled"
#endif
#endif
