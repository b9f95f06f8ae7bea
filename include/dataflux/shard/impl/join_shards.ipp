#pragma once

#include <dataflux/shard/join_shards.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

/// The right side's hashes are sorted, with their numbers. Each left sample is looked up in them.
namespace dataflux::inline DATAFLUX_ABI {

namespace detail::shard {

inline constexpr std::uint64_t most_joined = std::uint64_t{1} << 32U;

/// A sample of the right side.
struct join_key {
  std::uint64_t hash{0};
  std::uint64_t sample{0};

  friend bool operator<(const join_key& a, const join_key& b) noexcept {
    return std::pair(a.hash, a.sample) < std::pair(b.hash, b.sample);
  }
};

inline result<std::vector<join_key>> sorted_keys(const shard_index& index) {
  std::vector<join_key> keys;
  keys.reserve(index.samples());
  for (std::uint64_t i = 0; i < index.samples(); ++i) {
    const auto sample = index.sample(i);
    if (!sample) return sample.error();
    keys.push_back({sample->key_hash, i});
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

inline error repeated_key(const char* side, std::uint64_t sample) {
  return {errc::failed_precondition,
          std::string("join: the key of sample ") + std::to_string(sample) + " of the " + side +
              " side comes again there: allow all pairs, or index shards whose keys are unique"};
}

}  // namespace detail::shard

DATAFLUX_INLINE result<shard_join> join_shards(const shard_index& left, const shard_index& right,
                                               const join_options& options) {
  using detail::shard::join_key;
  if (options.kind > join_kind::left || options.repeated > repeated_keys::all_pairs)
    return error(errc::invalid_argument, "join: no such kind");
  const bool refuses = options.repeated == repeated_keys::refuse;
  auto keys = detail::shard::sorted_keys(right);
  if (!keys) return std::move(keys).error();
  std::vector<bool> met(keys->size());
  shard_join found;
  for (std::uint64_t i = 0; i < left.samples(); ++i) {
    const auto sample = left.sample(i);
    if (!sample) return sample.error();
    const auto first = std::lower_bound(keys->begin(), keys->end(), join_key{sample->key_hash, 0});
    auto at = first;
    for (; at != keys->end() && at->hash == sample->key_hash; ++at) {
      const auto place = static_cast<std::size_t>(at - keys->begin());
      if (refuses && at != first) return detail::shard::repeated_key("right", at->sample);
      if (refuses && met[place]) return detail::shard::repeated_key("left", i);
      met[place] = true;
      found.left.push_back(i);
      found.right.push_back(at->sample);
    }
    if (at == first) {
      ++found.left_alone;
      if (options.kind == join_kind::left) {
        found.left.push_back(i);
        found.right.push_back(shard_join::nobody);
      }
    }
    if (found.left.size() > detail::shard::most_joined) {
      return error(errc::resource_exhausted,
                   "join: over 2^32 rows: keys that come very often are paired with each other");
    }
  }
  found.right_alone = static_cast<std::uint64_t>(std::count(met.begin(), met.end(), false));
  return found;
}

}  // namespace dataflux::inline DATAFLUX_ABI
