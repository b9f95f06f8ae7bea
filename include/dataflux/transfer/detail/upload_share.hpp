#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/detail/buffer.hpp>
#include <dataflux/detail/seconds.hpp>
#include <dataflux/transfer/detail/upload_memory.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What the uploads of a context share. On the strand, but for the pool.
struct upload_share {
  explicit upload_share(std::uint64_t cap) : memory(cap) {}

  /// A request without a body took that long.
  void answered(duration took) noexcept {
    overhead = overhead == duration{0} ? took : (overhead * 3 + took) / 4;
  }
  void sent(std::uint64_t bytes, duration took) noexcept {
    const double seconds = to_seconds(took - overhead);
    if (seconds <= 0) return;
    const double rate = static_cast<double>(bytes) / seconds;
    bandwidth = bandwidth == 0 ? rate : bandwidth + (rate - bandwidth) / 8;
  }

  upload_memory memory;
  buffer_pool buffers{};
  /// What was found out about temporary objects, by bucket and folder.
  struct staging_lore {
    /// What is removed or moved may stay as a noncurrent generation.
    bool versioned{true};
    /// Why they can be neither moved nor removed; empty where they can.
    std::string refused{};
  };
  std::map<std::string, staging_lore> staging{};
  duration overhead{0};  ///< of a request, beside its body
  double bandwidth{0};   ///< bytes/s of one part
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
