#pragma once

#include <dataflux/detail/config.hpp>
#include <dataflux/shard/grouping_rules.hpp>
#include <dataflux/shard/shard_rules.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Memory of a field's name, and of what holds it.
constexpr std::size_t field_memory(std::string_view name) noexcept { return name.size() + 64; }

/// What one shard holds, as indexing finds it: columns as an index has them. A value.
struct shard_layout {
  std::vector<std::uint64_t> hashes{};  ///< of the samples' keys
  std::vector<std::uint32_t> begins{};  ///< in tar blocks from the shard's begin, ascending
  /// Of the samples' bytes; empty unless `checksummed`.
  std::vector<std::uint32_t> crcs{};
  std::vector<std::uint32_t> first_members{};  ///< of each sample
  std::vector<std::uint64_t> member_sizes{};
  std::vector<std::uint32_t> member_offsets{};  ///< of data, in tar blocks from the sample's begin
  std::vector<std::uint32_t> member_fields{};   ///< numbers in `fields`
  std::vector<std::string> fields{};            ///< each once
  std::size_t field_bytes{0};                   ///< of their names, and of what holds them
  /// All bytes of the shard were read.
  bool checksummed{false};
  shard_counts counts{};
  grouping_counts groups{};
  /// The name of the first member in no sample, where the shard itself was read.
  std::string first_left_out{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
