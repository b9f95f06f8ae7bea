#pragma once

#include <dataflux/detail/config.hpp>

#include <cstddef>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// CPUs that this process may use: those that it is bound to, or fewer where a quota of its control
/// groups (cpu.max, or cpu.cfs_quota_us of version 1) is worth fewer, rounded up. At least one.
/// A container of two CPUs on a machine of 96 says 2. Reads a few small files.
///
/// `root` is put before the paths of /proc and /sys, for tests.
std::size_t cpu_count(std::size_t bound_to, const std::string& root = {});

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/cpu_count.ipp>
#endif
