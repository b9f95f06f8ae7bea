#pragma once

#include <dataflux/shard/detail/layout_difference.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Of two columns of equal length the first row that differs, or that length.
template <class T>
std::size_t first_difference(const std::vector<T>& a, const std::vector<T>& b) noexcept {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
}

/// Field, size and place of member `m`, which is of sample `s`.
inline bool is_same_member(const shard_layout& a, const shard_layout& b, std::size_t s,
                           std::size_t m) noexcept {
  return a.member_sizes[m] == b.member_sizes[m] &&
         std::uint64_t{a.begins[s]} + a.member_offsets[m] ==
             std::uint64_t{b.begins[s]} + b.member_offsets[m] &&
         a.fields[a.member_fields[m]] == b.fields[b.member_fields[m]];
}

DATAFLUX_INLINE std::string difference_of(const shard_layout& indexed, const shard_layout& found) {
  const auto count = [](const char* what, std::size_t is, std::size_t was) {
    return "it has " + std::to_string(is) + " " + what + ", and the index has " +
           std::to_string(was);
  };
  const std::size_t samples = indexed.hashes.size();
  if (found.hashes.size() != samples) return count("samples", found.hashes.size(), samples);
  const auto sample = [samples](const auto& a, const auto& b, const char* what) {
    const std::size_t at = first_difference(a, b);
    return at == samples ? std::string{} : "its sample " + std::to_string(at) + what;
  };
  if (auto what = sample(indexed.hashes, found.hashes, " has another key than the index");
      !what.empty()) {
    return what;
  }
  const std::size_t members = indexed.member_sizes.size();
  if (found.member_sizes.size() != members || found.first_members != indexed.first_members) {
    return count("members", found.member_sizes.size(), members);
  }
  for (std::size_t s = 0; s < samples; ++s) {
    const std::size_t end = s + 1 < samples ? indexed.first_members[s + 1] : members;
    for (std::size_t m = indexed.first_members[s]; m < end; ++m) {
      if (!is_same_member(indexed, found, s, m)) {
        return "its sample " + std::to_string(s) + " has other members than in the index";
      }
    }
  }
  // Where it has no checksums it may be another's, who does not know where headers begin.
  if (!indexed.checksummed || !found.checksummed) return {};
  if (auto what = sample(indexed.begins, found.begins, " begins elsewhere than in the index");
      !what.empty()) {
    return what;
  }
  return sample(indexed.crcs, found.crcs, " has another checksum than in the index");
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
