#pragma once

#include <dataflux/shard/detail/layout_difference.hpp>

#include <algorithm>
#include <cstddef>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Of two columns of equal length the first row that differs, or that length.
template <class T>
std::size_t first_difference(const std::vector<T>& a, const std::vector<T>& b) noexcept {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
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
  std::string what = sample(indexed.hashes, found.hashes, " has another key than the index");
  if (what.empty()) {
    what = sample(indexed.begins, found.begins, " lies at another place than in the index");
  }
  if (!what.empty()) return what;
  const std::size_t members = indexed.member_sizes.size();
  if (found.member_sizes.size() != members || found.first_members != indexed.first_members) {
    return count("members", found.member_sizes.size(), members);
  }
  for (std::size_t m = 0; m < members; ++m) {
    const bool same =
        indexed.member_sizes[m] == found.member_sizes[m] &&
        indexed.member_offsets[m] == found.member_offsets[m] &&
        indexed.fields[indexed.member_fields[m]] == found.fields[found.member_fields[m]];
    if (!same) return "its member " + std::to_string(m) + " is not that of the index";
  }
  if (!indexed.checksummed || !found.checksummed) return {};
  return sample(indexed.crcs, found.crcs, " has another checksum than in the index");
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
