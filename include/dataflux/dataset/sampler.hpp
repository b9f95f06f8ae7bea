#pragma once

#include <dataflux/dataset/detail/index_permutation.hpp>
#include <dataflux/result.hpp>

#include <array>
#include <cstdint>
#include <span>

/// The order in which a training job reads the rows of a listing, and which rank reads which rows.
///
///     auto order = sampler::create({.count = all.objects.size(), .seed = 7, .epoch = 3,
///                                   .rank = 1, .world_size = 8}).value();
///     std::vector<std::uint64_t> rows(256);
///     order.rows(0, rows);   // the first 256 that rank 1 reads in epoch 3
namespace dataflux::inline DATAFLUX_ABI {

/// How the rows of an epoch are shuffled. The numbers are part of the C interface.
enum class shuffle_kind : std::uint8_t {
  /// Any row may come anywhere; all orders are equally likely.
  full = 0,
  /// Blocks of consecutive rows are shuffled; then the rows of each `window` blocks are shuffled.
  /// Neighbours are read at about the same time: for rows that are ranges of few large objects, or
  /// for a cache.
  window = 1,
  /// In order of rows, in every epoch.
  none = 2,
  /// Blocks of consecutive rows are shuffled, and so are the rows of each; then `window` blocks
  /// take
  /// turns, a row at a time. Where `window` is a multiple of readers times their batch, a block is
  /// read by one of them: for samples of tar shards.
  blocks = 3,
};

/// What happens to the remainder when rows do not divide by the number of ranks. The numbers are
/// part of the C interface.
enum class equalize_kind : std::uint8_t {
  /// The last rows of the epoch's order are left out: other rows in each epoch.
  drop = 0,
  /// The first rows of the epoch's order come again at its end.
  pad = 1,
};

struct sampler_options {
  /// Number of rows, at most 2^62.
  std::uint64_t count{0};
  /// The same seed gives the same orders, on every machine and in every version.
  std::uint64_t seed{0};
  std::uint64_t epoch{0};
  shuffle_kind shuffle{shuffle_kind::full};
  /// Rows in a block, for shuffle_kind::window and blocks only; 0 = 1,024.
  std::uint64_t block{0};
  /// Blocks in a window, for shuffle_kind::window and blocks only; 0 = 64.
  std::uint64_t window{0};
  /// This rank, from 0, and the number of ranks.
  std::uint32_t rank{0};
  std::uint32_t world_size{1};
  equalize_kind equalize{equalize_kind::drop};

  bool operator==(const sampler_options&) const = default;
};

/// The order of one epoch as a pure function of its options: nothing is stored, and any position is
/// computed at once. So a job resumes anywhere without replaying what it has read.
///
/// The epoch has one order for all ranks, and the ranks take turns: position p of rank r is
/// position p * world_size + r of that order. So n steps of all ranks read its first n * world_size
/// rows, and a job with another number of ranks resumes there.
///
/// Errors: only create() fails.
///
/// Lifetime: a value of about 1 KiB, without heap memory.
///
/// Threads: const, from any thread.
///
/// Cost: about 20 ns a position, 35 ns with a window, 110 ns with blocks, in long stretches on one
/// core.
class sampler {
 public:
  /// Errors (invalid_argument): count over 2^62, block * window over 2^62, no ranks, a rank that is
  /// not below world_size; block or window with a kind that has none, unknown kinds.
  static result<sampler> create(const sampler_options& options);

  const sampler_options& options() const noexcept { return options_; }
  /// Positions of this rank, the same for every rank.
  std::uint64_t size() const noexcept { return size_; }
  /// Positions of all ranks.
  std::uint64_t total() const noexcept { return size_ * options_.world_size; }

  /// The row at a position of this rank, below size().
  std::uint64_t row(std::uint64_t position) const noexcept {
    std::uint64_t found = 0;
    rows(position, {&found, 1});
    return found;
  }
  /// Fills in the rows at positions first, first + 1, ... of this rank, and returns their number:
  /// fewer than there is room for at the end.
  std::uint64_t rows(std::uint64_t first, std::span<std::uint64_t> into) const noexcept;
  /// Puts the row of each position, below size(), in its place. Fast where they ascend.
  void rows_at(std::span<std::uint64_t> positions) const noexcept;

  /// The first position of this rank behind the window of a position, at most size(). A caller that
  /// reads the rows up to there by their numbers reads each block in one piece. Without windows:
  /// size().
  std::uint64_t window_end(std::uint64_t position) const noexcept;

 private:
  explicit sampler(const sampler_options& options) noexcept;

  /// A window while rows of it are asked for.
  struct open_window {
    std::uint64_t rows{0};  // 0: none is open
    std::uint64_t slots{0};
    std::uint64_t tweak{0};
    const detail::index_permutation* order{nullptr};  // of its rows; with blocks none
    std::uint64_t first_block{0};                     // in the order of blocks
    std::uint64_t first_place{0};                     // in the order of the epoch
    std::uint64_t short_slot{UINT64_MAX};             // of the block that lacks rows
    std::array<std::uint64_t, 64> blocks{};  // those at first_block, ..., each + 1, once found
  };
  bool has_windows() const noexcept {
    return options_.shuffle == shuffle_kind::window || options_.shuffle == shuffle_kind::blocks;
  }
  open_window window_at(std::uint64_t place) const noexcept;
  std::uint64_t row_of(open_window& open, std::uint64_t place) const noexcept;
  std::uint64_t block_in(open_window& open, std::uint64_t slot) const noexcept;
  std::uint64_t row_in(open_window& open, std::uint64_t place) const noexcept;
  std::uint64_t turn_in(open_window& open, std::uint64_t place) const noexcept;

  sampler_options options_{};
  std::uint64_t size_{0};
  detail::index_permutation order_{};   // of rows; with windows: of blocks
  detail::index_permutation within_{};  // of the rows of a window, or of a block, that is whole
  detail::index_permutation short_{};   // of those of the one that has, or is, the shorter block
  detail::index_permutation last_{};    // of those of the last window, which has fewer blocks
  std::uint64_t short_block_{0};  // where the last block of rows has come in the order of blocks
  std::uint64_t lacking_{0};      // rows that it lacks
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/dataset/impl/sampler.ipp>
#endif
