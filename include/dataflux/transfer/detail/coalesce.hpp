#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// How many pieces of one object become few requests: pieces that lie close together are read at
/// once, with what lies between, and long ones in parallel. Pure arithmetic.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// Bytes of an object that somebody wants. Clamped to the object's end by the caller.
struct object_piece {
  std::uint64_t offset{0};
  std::uint64_t length{0};
};

struct coalesce_options {
  /// Longest gap that is read rather than skipped: what a connection carries in the time that a
  /// request of its own would cost. See coalesce_gap(). 0 = only neighbours are joined.
  std::uint64_t gap{0};
  /// Most bytes that nobody wants, of all requests together, and most of them for each byte that
  /// somebody wants.
  std::uint64_t max_waste{64ULL << 20U};
  double max_waste_share{1.0};
  /// Longest request; a longer one is cut into as few as possible, of equal size. At least 1.
  std::uint64_t slice{8ULL << 20U};
};

/// The gap that costs as much as a request: round trip times the bandwidth of one connection.
std::uint64_t coalesce_gap(duration round_trip, double bytes_per_second) noexcept;

/// Where a part of a request's bytes goes.
struct scattered_part {
  std::size_t piece{0};  ///< index of the piece in what was given
  std::uint64_t offset_in_piece{0};
  std::uint64_t offset_in_request{0};
  std::uint64_t length{0};  ///< never 0
};

/// One range to read. Begins and ends with a byte that somebody wants.
struct coalesced_request {
  std::uint64_t offset{0};
  std::uint64_t length{0};
  /// Its parts: `part_count` of coalesced_plan::parts from `first_part` on, by offset_in_request.
  std::size_t first_part{0};
  std::size_t part_count{0};
};

struct coalesced_plan {
  /// By offset; no two overlap.
  std::vector<coalesced_request> requests{};
  std::vector<scattered_part> parts{};
  /// Bytes of requests that are in no piece.
  std::uint64_t wasted{0};
};

/// Plans the requests for `pieces`: in any order, overlapping, equal, or of length zero. Every byte
/// of every piece is in exactly one part; a byte that several pieces want is read once and is in a
/// part of each. A piece of length zero is in none, and all of length zero give no request at all.
///
/// The shortest gaps are read first, for as long as waste allows, and none that does not save a
/// request: two long pieces with a gap between would be cut into slices all the same.
///
/// Fails with invalid_argument, naming the piece, when one ends beyond the largest object offset.
/// Cost: O(n log n) for n pieces, and memory for one part for each piece and slice.
result<coalesced_plan> coalesce(std::span<const object_piece> pieces,
                                const coalesce_options& options = {});

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/coalesce.ipp>
#endif
