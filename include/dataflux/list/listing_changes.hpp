#pragma once

#include <dataflux/result.hpp>
#include <dataflux/store/object_columns.hpp>

#include <cstddef>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// What became of a listing: rows by their index, each list in order of names.
struct listing_changes {
  struct pair {
    std::size_t before{0};
    std::size_t after{0};
    bool operator==(const pair&) const = default;
  };
  std::vector<std::size_t> added{};    ///< rows of the newer listing
  std::vector<std::size_t> removed{};  ///< rows of the older one
  /// The name is in both, with another generation: overwritten, or deleted and written again.
  std::vector<pair> changed{};
  std::size_t unchanged{0};  ///< same name, same generation: the very same bytes

  bool empty() const noexcept { return added.empty() && removed.empty() && changed.empty(); }
};

/// Compares two listings of the same place, in one pass over both. Nothing but names and
/// generations is compared: whatever else differs, a generation's bytes are the same.
///
/// Both must be in order of names, each name once; with `versions`, in order of names and
/// generations, each pair once: then a new generation is added and none is changed. Otherwise
/// invalid_argument, which says where. Cost: about 10 ns a row, and memory for what differs. Pure;
/// throws std::bad_alloc only.
result<listing_changes> compare_listings(const object_columns& before, const object_columns& after,
                                         bool versions = false);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/listing_changes.ipp>
#endif
