#pragma once

#include <dataflux/cache/detail/cached_read.hpp>
#include <dataflux/cache/disk_cache.hpp>

#include <dataflux/detail/file_error.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <sys/statfs.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline constexpr std::uint64_t least_cache_bytes = 16U << 20U;
/// Of the file system, as stays free.
inline constexpr std::uint64_t free_part = 20;

inline result<cache_limits> cache_limits_of(const disk_cache_options& options, int folder) {
  if (options.bytes != 0 && options.bytes < least_cache_bytes) {
    return error{errc::invalid_argument, "bytes: " + std::to_string(options.bytes) +
                                             " are too few for a cache; give 16 MiB or more"};
  }
  struct statfs facts {};
  if (::fstatfs(folder, &facts) != 0) return file_error(errno, "look at", "the cache's folder");
  const std::uint64_t all = facts.f_blocks * static_cast<std::uint64_t>(facts.f_bsize);
  return cache_limits{
      .bytes = options.bytes != 0 ? options.bytes : std::max(all, least_cache_bytes),
      .min_free = options.min_free != 0 ? options.min_free : all / free_part};
}

}  // namespace detail

DATAFLUX_INLINE disk_cache::disk_cache(std::shared_ptr<detail::cache_state> state) noexcept
    : state_(std::move(state)) {}

DATAFLUX_INLINE result<disk_cache> disk_cache::open(const std::string& folder,
                                                    const disk_cache_options& options) {
  auto opened = detail::open_cache_folder(folder, true);
  if (!opened) return std::move(opened).error();
  const auto limits = detail::cache_limits_of(options, opened->descriptor());
  if (!limits) return limits.error();
  return disk_cache(std::make_shared<detail::cache_state>(*std::move(opened), *limits));
}

DATAFLUX_INLINE void disk_cache::serve(const transfer_context& context,
                                       std::string_view service) const {
  if (context.store().traits().customer_key) return;
  context.state()->engine.set_cache(
      std::make_shared<detail::cached_reads>(state_, std::string(service)));
}

DATAFLUX_INLINE cache_counters disk_cache::counters() const noexcept { return state_->counters(); }

DATAFLUX_INLINE void disk_cache::flush() const {
  if (!state_->inherited()) state_->flush();
}

}  // namespace dataflux::inline DATAFLUX_ABI
