#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI {

/// Counts the forks that led to this process since the library was first used; registers a fork
/// handler on the first call. What is made remembers it, so that the child of a fork knows what is
/// its parent's: exec/detail/fork.hpp says what it does then. Thread-safe; one load afterwards.
std::uint64_t fork_generation() noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/impl/fork_generation.ipp>
#endif
