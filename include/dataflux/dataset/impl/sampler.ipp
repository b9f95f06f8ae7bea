#pragma once

#include <dataflux/dataset/sampler.hpp>
#include <dataflux/detail/or_default.hpp>

#include <algorithm>
#include <string>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline constexpr std::uint64_t most_rows = std::uint64_t{1} << 62;

inline result<void> check_sampler(const sampler_options& options) {
  const auto refuse = [](std::string why) { return error{errc::invalid_argument, std::move(why)}; };
  if (options.shuffle > shuffle_kind::blocks) return refuse("shuffle: no such kind");
  if (options.equalize > equalize_kind::pad) return refuse("equalize: no such kind");
  if (options.count > most_rows) return refuse("count: at most 2^62 rows");
  if (options.world_size == 0) return refuse("world_size: a job has one rank at least");
  if (options.rank >= options.world_size) {
    return refuse("rank " + std::to_string(options.rank) + " of world_size " +
                  std::to_string(options.world_size) + ": ranks are counted from 0");
  }
  if (options.shuffle != shuffle_kind::window && options.shuffle != shuffle_kind::blocks) {
    if (options.block != 0 || options.window != 0) {
      return refuse("block and window: only where shuffle is window or blocks");
    }
  } else if (or_default<std::uint64_t>(options.block, 1024) >
             most_rows / or_default<std::uint64_t>(options.window, 64)) {
    return refuse("block * window: at most 2^62 rows");
  }
  return {};
}

/// Unlike for each (seed, epoch), and for each `part` that is shuffled by itself.
constexpr std::uint64_t epoch_key(const sampler_options& options, std::uint64_t part) noexcept {
  const auto seeded = mix_bits(options.seed + 0x9e3779b97f4a7c15);
  return mix_bits(mix_bits(seeded + options.epoch * 0xd1342543de82ef95) + part);
}

}  // namespace detail

DATAFLUX_INLINE result<sampler> sampler::create(const sampler_options& options) {
  if (auto good = detail::check_sampler(options); !good) return std::move(good).error();
  return sampler(options);
}

DATAFLUX_INLINE sampler::sampler(const sampler_options& options) noexcept : options_(options) {
  const auto count = options_.count;
  const auto ranks = options_.world_size;
  size_ = count / ranks + (options_.equalize == equalize_kind::pad && count % ranks != 0 ? 1 : 0);
  if (options_.shuffle == shuffle_kind::full) {
    order_ = {count, detail::epoch_key(options_, 0)};
  }
  if (!has_windows() || count == 0) return;

  auto& block = options_.block;
  auto& window = options_.window;
  block = detail::or_default<std::uint64_t>(block, 1024);
  window = detail::or_default<std::uint64_t>(window, 64);
  const auto blocks = (count - 1) / block + 1;
  order_ = {blocks, detail::epoch_key(options_, 1)};
  short_block_ = order_.inverse(blocks - 1);
  lacking_ = blocks * block - count;
  const auto key = detail::epoch_key(options_, 2);
  if (options_.shuffle == shuffle_kind::blocks) {
    within_ = {block, key};
    short_ = {block - lacking_, key};
    return;
  }
  const auto last_window = (blocks - 1) / window;
  const auto rows_of = [&](std::uint64_t w) {
    return (w == last_window ? blocks - w * window : window) * block;
  };
  within_ = {window * block, key};
  last_ = {rows_of(last_window), key};
  short_ = {rows_of(short_block_ / window) - lacking_, key};
}

// Places are counted as if every block were whole: behind the window with the short block, and
// behind that block in its window, by as many more as the block lacks.
DATAFLUX_INLINE sampler::open_window sampler::window_at(std::uint64_t place) const noexcept {
  const auto window = options_.window;
  const auto whole = window * options_.block;
  const auto short_at = short_block_ / window;
  const auto slots_of = [&](std::uint64_t w) {
    return std::min(window, order_.count() - w * window);
  };
  const auto behind = short_at * whole + slots_of(short_at) * options_.block - lacking_;
  const auto at = (place < behind ? place : place + lacking_) / whole;
  open_window found;
  found.first_block = at * window;
  found.first_place = at * whole - (at > short_at ? lacking_ : 0);
  found.slots = slots_of(at);
  found.rows = found.slots * options_.block - (at == short_at ? lacking_ : 0);
  found.order = at == short_at ? &short_ : found.slots < window ? &last_ : &within_;
  found.tweak = detail::mix_bits(at);
  if (at == short_at) found.short_slot = short_block_ - found.first_block;
  return found;
}

DATAFLUX_INLINE std::uint64_t sampler::block_in(open_window& open,
                                                std::uint64_t slot) const noexcept {
  if (slot >= open.blocks.size()) return order_(open.first_block + slot);
  auto& block = open.blocks[slot];
  if (block == 0) block = order_(open.first_block + slot) + 1;
  return block - 1;
}

DATAFLUX_INLINE std::uint64_t sampler::row_in(open_window& open,
                                              std::uint64_t place) const noexcept {
  auto at = (*open.order)(place - open.first_place, open.tweak);
  if (open.short_slot != UINT64_MAX && at >= (open.short_slot + 1) * options_.block - lacking_)
    at += lacking_;
  const auto slot = at / options_.block;
  return block_in(open, slot) * options_.block + (at - slot * options_.block);
}

/// Blocks take turns; once the shorter one has given all of its rows, the others alone do.
DATAFLUX_INLINE std::uint64_t sampler::turn_in(open_window& open,
                                               std::uint64_t place) const noexcept {
  const auto at = place - open.first_place;
  auto slot = at % open.slots;
  auto turn = at / open.slots;
  if (open.short_slot != UINT64_MAX && turn >= short_.count()) {
    const auto rest = at - short_.count() * open.slots;
    slot = rest % (open.slots - 1);
    turn = short_.count() + rest / (open.slots - 1);
    if (slot >= open.short_slot) ++slot;
  }
  const auto block = block_in(open, slot);
  const auto& order = slot == open.short_slot ? short_ : within_;
  return block * options_.block + order(turn, detail::mix_bits(block));
}

DATAFLUX_INLINE std::uint64_t sampler::window_end(std::uint64_t position) const noexcept {
  if (!has_windows() || position >= size_) return size_;
  const std::uint64_t ranks = options_.world_size;
  const auto place = position * ranks + options_.rank;
  if (place >= options_.count) return size_;  // what is padded
  const auto open = window_at(place);
  const auto end = open.first_place + open.rows;
  return std::min(size_, (end - options_.rank + ranks - 1) / ranks);
}

DATAFLUX_INLINE std::uint64_t sampler::row_of(open_window& open,
                                              std::uint64_t place) const noexcept {
  if (place >= options_.count) place %= options_.count;  // what is padded
  if (options_.shuffle == shuffle_kind::full) return order_(place);
  if (options_.shuffle == shuffle_kind::none) return place;
  if (place < open.first_place || place - open.first_place >= open.rows) open = window_at(place);
  return options_.shuffle == shuffle_kind::window ? row_in(open, place) : turn_in(open, place);
}

DATAFLUX_INLINE std::uint64_t sampler::rows(std::uint64_t first,
                                            std::span<std::uint64_t> into) const noexcept {
  if (first >= size_) return 0;
  const auto n = std::min<std::uint64_t>(into.size(), size_ - first);
  auto place = first * options_.world_size + options_.rank;
  open_window open;
  for (auto& row : into.first(n)) {
    row = row_of(open, place);
    place += options_.world_size;
  }
  return n;
}

DATAFLUX_INLINE void sampler::rows_at(std::span<std::uint64_t> positions) const noexcept {
  open_window open;
  for (auto& position : positions) {
    position = row_of(open, position * options_.world_size + options_.rank);
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI
