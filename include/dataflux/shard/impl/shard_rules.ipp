#pragma once

#include <dataflux/shard/shard_rules.hpp>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE shard_counts& shard_counts::operator+=(const shard_counts& more) noexcept {
  concatenated += more.concatenated;
  trailing += more.trailing;
  damaged += more.damaged;
  missing_ends += more.missing_ends;
  bytes_behind += more.bytes_behind;
  hard_links += more.hard_links;
  symlinks += more.symlinks;
  directories += more.directories;
  devices += more.devices;
  other += more.other;
  return *this;
}

}  // namespace dataflux::inline DATAFLUX_ABI
