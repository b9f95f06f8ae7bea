#pragma once

#include <dataflux/dataset/sampler_cost.hpp>
#include <dataflux/detail/or_default.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// How likely two of `picked` neighbours lie in one run, where runs have `run` and begin anywhere.
inline double in_one_run(double picked, double run) {
  if (picked < 2 || run <= 0) return 0;
  // Distances d = 1 .. picked - 1 occur (picked - d) times, and stay inside with 1 - d / run.
  const double k = std::floor(std::min(picked - 1, run));
  const double sum =
      k * picked - (1 + picked / run) * k * (k + 1) / 2 + k * (k + 1) * (2 * k + 1) / (6 * run);
  return std::clamp(2 * sum / (picked * (picked - 1)), 0.0, 1.0);
}

/// What a process has, for runs of samples.
struct reader_limits {
  std::uint32_t workers{1};
  std::uint64_t batch{1};
  double bytes{1};  ///< of a sample
  double memory{0};
  double most_gap{0};  ///< samples
  double slice{0};     ///< bytes of a request, at most
};

inline constexpr double longest_slice = 8 << 20;

inline reader_limits limits_of(const epoch_reads& reads) {
  reader_limits found;
  found.workers = or_default(reads.workers, std::uint32_t{1});
  found.batch = std::min(or_default(reads.batch, std::uint64_t{1}), std::uint64_t{1} << 24U);
  found.bytes = reads.sample_bytes > 0 ? reads.sample_bytes : 1;
  found.memory = static_cast<double>(or_default(reads.memory, std::uint64_t{256} << 20U));
  found.slice = std::min(longest_slice, found.memory / 8);
  const auto gap = static_cast<double>(or_default(reads.gap, std::uint64_t{256} << 10U));
  found.most_gap = std::min(gap, longest_slice) / found.bytes;
  return found;
}

/// What a process asks for, as runs of samples that lie side by side.
struct asked_runs {
  double firsts{1};  ///< share of samples that begin a run of their own
  double misses{0};  ///< of the others: share behind a gap that is left out
  double waste{0};   ///< of the others: mean samples of gaps that are read
};

/// Where each sample is wanted with the likelihood p: gaps of g samples occur p * q^g times. The
/// shortest ones are read, until they have as many bytes as are wanted.
inline asked_runs at_random(double p, double block, double most_gap) {
  asked_runs found;
  if (p >= 1) {
    found.firsts = 1 / block;
    return found;
  }
  const double q = 1 - p;
  found.firsts = std::min(1.0, (1 - std::pow(q, block)) / (block * p));
  found.misses = q;
  double share = p;
  double gap = 1;
  while (gap <= most_gap && gap < block) {
    share *= q;
    const double taken = std::min(share, (1 - found.waste) / gap);
    found.misses -= taken;
    found.waste += taken * gap;
    if (taken < share) break;
    ++gap;
  }
  found.misses = std::max(0.0, found.misses);
  return found;
}

/// Every `ranks`-th sample of a shard, in runs of a batch where workers take turns.
inline asked_runs in_turns(const sampler_options& order, const reader_limits& limits,
                           double shard) {
  const double run = limits.workers > 1 ? static_cast<double>(limits.batch) : shard;
  asked_runs found{.firsts = 1 / std::max(1.0, std::min(run, shard / order.world_size))};
  const double gap = order.world_size - 1;
  if (gap > 0) {
    const double taken = gap <= limits.most_gap ? std::min(1.0, 1 / gap) : 0;
    found.misses = 1 - taken;
    found.waste = taken * gap;
  }
  return found;
}

/// Adds the cost of a share of the samples. A run that is longer than a slice is cut.
inline void tell_requests(const asked_runs& runs, const reader_limits& limits, double part,
                          sampler_cost& told) {
  const double starts = runs.firsts + (1 - runs.firsts) * runs.misses;
  const double cuts = limits.bytes / limits.slice;
  told.requests += part * (cuts > starts ? starts / 2 + cuts : starts);
  told.bytes_read += part * (1 + (1 - runs.firsts) * runs.waste);
}

/// Processes that read rows of one block, where blocks take turns: positions of a block are
/// `window` apart, and those of a process come again after all ranks and workers.
inline double readers_of_block(const sampler_options& order, std::uint64_t window,
                               std::uint32_t workers, std::uint64_t batch) {
  const std::uint64_t ranks = order.world_size;
  if (workers == 1) {
    const std::uint64_t apart = ranks / std::gcd(window, ranks);
    return static_cast<double>(apart);
  }
  const auto all = static_cast<double>(ranks) * workers;
  if (all * static_cast<double>(batch) > 1e18) return all;
  const auto of_worker = ranks * batch;
  const auto step = std::gcd(window, of_worker * workers);
  const std::uint64_t readers =
      step >= of_worker ? of_worker * workers / step
                        : std::min(ranks / std::gcd(step, ranks), of_worker / step) * workers;
  return static_cast<double>(readers);
}

/// Correlation of the numbers of two of `count` rows that are of one block with the likelihood p.
inline double correlation(double p, double block, double count) {
  if (count < 2) return 0;
  const double share = (block - 1) / (count - 1);
  const double within = block * (block + 1);
  const double between = share < 1 ? (count * (count + 1) - share * within) / (1 - share) : within;
  return 1 - (p * within + (1 - p) * between) / (count * count - 1);
}

/// How likely two samples are of one block: neighbours of a rank, and any two of a rank's batch.
struct block_odds {
  double next{0};
  double batch{0};
};

inline block_odds odds_of_blocks(const sampler_options& order, double block, std::uint64_t window,
                                 std::uint64_t batch) {
  const double ranks = order.world_size;
  if (order.shuffle == shuffle_kind::blocks) {
    const auto apart = window / std::gcd(window, std::uint64_t{order.world_size});
    // Of a batch so many take turns on `apart` blocks.
    const std::uint64_t whole_rounds = batch / apart;
    const auto rounds = static_cast<double>(whole_rounds);
    const auto more = static_cast<double>(batch % apart);
    const auto size = static_cast<double>(batch);
    const auto same =
        (static_cast<double>(apart) - more) * rounds * (rounds - 1) + more * (rounds + 1) * rounds;
    return {.next = apart == 1 ? 1 : 0.0, .batch = batch < 2 ? 0 : same / (size * (size - 1))};
  }
  const double rows =
      std::min(block * static_cast<double>(window), static_cast<double>(order.count));
  if (rows < 2) return {};
  const double same = std::min(1.0, (block - 1) / (rows - 1));
  return {.next = same * std::max(0.0, 1 - ranks / rows),
          .batch = same * in_one_run(static_cast<double>(batch), rows / ranks)};
}

inline void tell_mixing(const sampler_options& order, double block, std::uint64_t window,
                        std::uint64_t batch, double shard, sampler_cost& told) {
  const auto count = static_cast<double>(order.count);
  const double ranks = order.world_size;
  told.same_shard_of_full = count < 2 || shard < 1 ? 0 : std::min(1.0, (shard - 1) / (count - 1));
  if (order.shuffle == shuffle_kind::none) {
    told.lag_correlation = 1;
    told.same_shard = in_one_run(static_cast<double>(batch), shard / ranks);
    return;
  }
  told.lag_correlation = count < 2 ? 0 : -1 / (count - 1);
  told.same_shard = batch < 2 ? 0 : told.same_shard_of_full;
  if (order.shuffle == shuffle_kind::full || count < 2) return;
  const auto odds = odds_of_blocks(order, block, window, batch);
  told.lag_correlation = correlation(odds.next, block, count);
  if (batch < 2) return;
  const double share = (block - 1) / (count - 1);
  const double inside = in_one_run(block, shard);
  const double apart =
      share < 1 ? std::max(0.0, (told.same_shard_of_full - share * inside) / (1 - share)) : 0;
  told.same_shard = odds.batch * inside + (1 - odds.batch) * apart;
}

/// Adds what a share of the rows costs whose windows have `window` blocks.
inline void add_windows(const sampler_options& order, double block, std::uint64_t window,
                        const reader_limits& limits, double part, sampler_cost& told) {
  const double rows = block * static_cast<double>(window);
  const double all = static_cast<double>(order.world_size) * limits.workers;
  const double turns = limits.workers == 1 ? 0 : static_cast<double>(limits.batch);
  const double share = std::max(rows / all, std::min(turns, rows));  // rows of a process
  const double held = std::min(share * limits.bytes, limits.memory);
  const double readers = order.shuffle == shuffle_kind::blocks
                             ? readers_of_block(order, window, limits.workers, limits.batch)
                             : rows / share;
  told.held = std::max(told.held, held);
  told.readers += part * readers;
  auto runs = at_random(held / (share * limits.bytes) / readers, block, limits.most_gap);
  // Of blocks side by side, which a process may have, one run goes on into the other.
  const double blocks = static_cast<double>(order.count) / block;
  const double mine =
      static_cast<double>(window) * (order.shuffle == shuffle_kind::blocks ? readers / all : 1);
  if (blocks > 1) runs.firsts *= 1 - std::clamp((mine - 1) / (blocks - 1), 0.0, 1.0);
  tell_requests(runs, limits, part, told);
}

}  // namespace detail

DATAFLUX_INLINE result<sampler_cost> cost_of(const sampler& order, const epoch_reads& reads) {
  for (const double number : {reads.sample_bytes, reads.shard_samples}) {
    if (!std::isfinite(number) || number < 0) {
      return error(errc::invalid_argument, "sample_bytes, shard_samples: means are at least 0");
    }
  }
  const auto& how = order.options();
  const bool windows =
      how.count > 0 && (how.shuffle == shuffle_kind::window || how.shuffle == shuffle_kind::blocks);
  const auto limits = detail::limits_of(reads);
  const auto count = static_cast<double>(std::max<std::uint64_t>(how.count, 1));
  const double block = windows ? std::min(static_cast<double>(how.block), count) : 1;
  const auto blocks = windows ? (how.count - 1) / how.block + 1 : 1;
  const auto window = windows ? std::min(how.window, blocks) : 1;

  sampler_cost told;
  detail::tell_mixing(how, block, window, limits.batch, reads.shard_samples, told);
  if (reads.shard_samples == 0 || limits.bytes > limits.slice ||
      how.shuffle == shuffle_kind::full) {  // none is read with another one
    told.requests = std::max(1.0, std::ceil(limits.bytes / detail::longest_slice));
    return told;
  }
  told.requests = told.bytes_read = 0;
  if (windows) {
    const auto last = blocks % window;
    const double part = static_cast<double>(last) / static_cast<double>(blocks);
    detail::add_windows(how, block, window, limits, 1 - part, told);
    if (last > 0) detail::add_windows(how, block, last, limits, part, told);
  } else {
    detail::tell_requests(detail::in_turns(how, limits, reads.shard_samples), limits, 1, told);
  }
  return told;
}

}  // namespace dataflux::inline DATAFLUX_ABI
