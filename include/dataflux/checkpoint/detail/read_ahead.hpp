#pragma once

#include <dataflux/bytes.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

struct read_ahead_options {
  /// How far ahead at first, and at most; `most` = 0 reads nothing ahead.
  std::uint64_t first{1ULL << 20U};
  std::uint64_t most{32ULL << 20U};
};

/// How far to load ahead of a reader that goes through an object. Nothing before its second read in
/// a row; then `first` bytes, or as many as it reads, but no more than an eighth of `most`; and
/// twice as many each time that it has used up a piece of what is ahead, up to `most` and to what
/// the link rewards. A seek begins anew; a step forward by up to `first`, as over a header, or
/// within what is ahead already, is none.
///
/// Pure arithmetic; one thread at a time. Cost: nothing.
class read_ahead {
 public:
  explicit read_ahead(const read_ahead_options& options) noexcept : options_(options) {}

  /// The reader takes `read` of an object of `size` bytes. Gives what is to be loaded now, behind
  /// all that it gave before; length 0 = nothing.
  byte_extent on_read(byte_extent read, std::uint64_t size) noexcept;
  /// What the link rewards, when that is known: `lanes` requests at a time, and `ahead` bytes on
  /// their way.
  void aim(std::uint64_t lanes, std::uint64_t ahead) noexcept;
  /// What is loaded at once: large enough for a request to pay, small enough that there is one for
  /// each lane.
  std::uint64_t piece() const noexcept;
  /// Bytes that are kept ahead; 0 while reads are not in sequence.
  std::uint64_t window() const noexcept { return window_; }

 private:
  read_ahead_options options_;
  std::uint64_t expected_{0};  ///< where a read in sequence begins
  std::uint64_t asked_{0};     ///< to there it has been said to load
  std::uint64_t window_{0};
  std::uint64_t lanes_{8};
  std::uint64_t rewarded_{byte_range::to_end};
  bool read_before_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/read_ahead.ipp>
#endif
