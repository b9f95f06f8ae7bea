#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI {

/// What happens to a member whose field its sample has already.
enum class repeated_rule : std::uint8_t {
  error,       ///< reading fails with invalid_argument, with the key and the field
  keep_first,  ///< the first member stays, the other is left out and counted
};

/// How the members of a shard become samples. The defaults are WebDataset's.
///
/// A member's name is its key, a dot and its field: "dir.v1/a.seg.png" is the field "seg.png" of
/// the sample "dir.v1/a". Neighbours with one key are a sample. A key that comes again later is
/// another sample. A sample ends with its shard.
///
/// Fields are in lower case, so that "a.JPG" is the field "jpg". That holds for ASCII alone: a
/// field with any other byte stays as it is, where Python would change it.
struct grouping_rules {
  /// Fields keep their case. Then "a.jpg" and "a.JPG" are two fields.
  bool keep_case{false};
  /// A leading "./" is no part of the key. `tar -C dir .` writes such names. WebDataset keeps it.
  bool strip_dot_slash{false};
  repeated_rule repeated{repeated_rule::error};

  bool operator==(const grouping_rules&) const = default;
};

/// How many members are in no sample, by reason.
///
/// Threads: distinct objects are independent.
struct grouping_counts {
  /// WebDataset's own: "__name__" by itself, or a path whose first component is "__name__".
  std::uint64_t hidden{0};
  /// No dot in the last component of the name, or nothing before it, as in "README" and ".hidden".
  std::uint64_t no_field{0};
  /// Members that repeated_rule::keep_first left out.
  std::uint64_t repeated{0};

  grouping_counts& operator+=(const grouping_counts& more) noexcept {
    hidden += more.hidden;
    no_field += more.no_field;
    repeated += more.repeated;
    return *this;
  }
  /// Members that were left out, for whatever reason.
  std::uint64_t left_out() const noexcept { return hidden + no_field + repeated; }
  bool operator==(const grouping_counts&) const = default;
};

}  // namespace dataflux::inline DATAFLUX_ABI
