#pragma once

#include <dataflux/detail/buffer.hpp>
#include <dataflux/transfer/detail/upload_memory.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What the uploads of a context share. On the strand, but for the pool.
struct upload_share {
  explicit upload_share(std::uint64_t cap) : memory(cap) {}

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
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
