#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/detail/seconds.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/simulate/detail/epoch_reckoning.hpp>
#include <dataflux/simulate/detail/object_strata.hpp>
#include <dataflux/simulate/detail/simulated_epoch.hpp>
#include <dataflux/simulate/simulate_epoch.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <new>
#include <string>
#include <utility>

/// A model becomes a network, a plan and a size (with its defaults); simulated_epoch runs the
/// beginning, and forecast_of() reckons with what that was.
namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline constexpr std::uint64_t most_samples = std::uint64_t{1} << 62U;
inline constexpr std::uint64_t largest_object = std::uint64_t{5} << 40U;
/// Of the processes together: what a machine that forecasts has.
inline constexpr std::uint64_t most_simulated_memory = std::uint64_t{4} << 30U;
/// Of different sizes.
inline constexpr std::size_t most_strata = 4096;

inline error bad_member(const char* member, const std::string& why) {
  return error(errc::invalid_argument, std::string(member) + ": " + why);
}

/// A number from 0 to `most`.
struct bounded_member {
  const char* name;
  double value;
  double most;
};
inline result<void> check_bounds(const epoch_model& m) {
  constexpr double hour = 3600;
  const auto seconds = [](duration d) { return to_seconds(d); };
  const bounded_member all[]{
      {"link", m.link, 1e15},
      {"connection_rate", m.connection_rate, 1e15},
      {"round_trip (seconds)", seconds(m.round_trip), hour},
      {"spread", std::max(m.spread, 0.0), 2},
      {"connecting_trips", static_cast<double>(m.connecting_trips), 100},
      {"processors", static_cast<double>(m.processors), 4096},
      {"workers", static_cast<double>(m.workers), 1024},
      {"concurrency", static_cast<double>(m.concurrency), 65'536},
      {"request_time (seconds)", seconds(m.request_time), 1},
      {"byte_nanoseconds", m.byte_nanoseconds, 1e6},
      {"decode (seconds)", seconds(m.decode), hour},
      {"decode_threads", static_cast<double>(m.decode_threads), 4096},
      {"batch", static_cast<double>(m.batch), 1 << 20U},
      {"step (seconds)", seconds(m.step), 24 * hour},
      {"prices.class_a", m.prices.class_a, 1e9},
      {"prices.class_b", m.prices.class_b, 1e9},
      {"prices.gib", m.prices.gib, 1e9},
  };
  for (const bounded_member& each : all) {
    if (each.value >= 0 && each.value <= each.most) continue;  // NaN does neither
    return bad_member(
        each.name, "a number from 0 to " + std::to_string(static_cast<std::uint64_t>(each.most)));
  }
  if (std::isnan(m.spread)) return bad_member("spread", "not a number");
  if (m.link <= 0) return bad_member("link", "bytes a second, above 0");
  return {};
}

/// What the objects are together.
inline result<epoch_size> size_of_epoch(const epoch_model& m, std::uint64_t memory) {
  epoch_size size;
  double bytes = 0;
  for (const objects_of_size& each : m.objects) {
    if (each.bytes > largest_object) {
      return bad_member("objects",
                        std::to_string(each.bytes) + " bytes: no object has more than 5 TiB");
    }
    if (each.count > most_samples - size.samples) {
      return bad_member("objects", "more than 2^62 of them");
    }
    if (each.count > 0 && each.bytes > memory) {
      return bad_member("memory", "an object has " + std::to_string(each.bytes) +
                                      " bytes, and each process has " + std::to_string(memory) +
                                      " for all: give more");
    }
    size.samples += each.count;
    bytes += static_cast<double>(each.bytes) * static_cast<double>(each.count);
    size.bytes += each.bytes * each.count;
  }
  if (size.samples == 0) return bad_member("objects", "there are none");
  const std::uint64_t epochs = or_default(m.epochs, std::uint64_t{1});
  if (epochs > most_samples / size.samples || bytes * static_cast<double>(epochs) > 0x1p62) {
    return bad_member("epochs", "more than 2^62 samples or bytes in all");
  }
  size.listed = m.listed ? size.samples : 0;
  size.samples *= epochs;
  size.bytes *= epochs;
  return size;
}

inline simulated_network network_of(const epoch_model& m) {
  const double spread = m.spread < 0 ? 0 : or_default(m.spread, 0.2);
  return {
      .round_trip = to_seconds(or_default(m.round_trip, duration(std::chrono::milliseconds(20)))),
      .jitter = spread,
      .rate_spread = spread,
      .connection_rate = std::min(m.link, or_default(m.connection_rate, 50e6)),
      .total_rate = m.link,
      .seed = or_default(m.seed, std::uint64_t{1})};
}

/// Of the memory that each process has, what is simulated of it.
inline std::uint64_t simulated_memory(std::uint64_t memory, std::size_t processes,
                                      std::uint64_t largest) {
  const std::uint64_t share = most_simulated_memory / processes;
  const std::uint64_t least = std::max(std::uint64_t{64} << 20U, 4 * largest);
  return std::min(memory, std::max(share, least));
}

inline std::uint64_t nanoseconds_of(duration d) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(d.count(), 0));
}

inline epoch_plan plan_of(const epoch_model& m, const simulated_network& network,
                          const epoch_size& size, std::uint64_t memory) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes;
  for (const objects_of_size& each : m.objects) {
    if (each.count > 0) sizes.emplace_back(each.bytes, each.count);
  }
  epoch_plan plan{.items = size.samples,
                  .batch = or_default(m.batch, std::uint64_t{1}),
                  .step = to_seconds(m.step),
                  .order = m.order,
                  .workers = std::max<std::size_t>(m.workers, 1),
                  .ahead = m.workers > 0 || m.decode > duration{0} ? 2U : 0U,
                  .processors = or_default(m.processors, std::uint32_t{4}),
                  .decode_nanoseconds = nanoseconds_of(m.decode),
                  .decode_threads = or_default(m.decode_threads, std::uint32_t{1})};
  plan.sizes =
      object_strata(std::move(sizes), size.samples / or_default(m.epochs, std::uint64_t{1}),
                    most_strata, network.seed);
  const std::uint64_t largest = *std::max_element(plan.sizes.begin(), plan.sizes.end());
  plan.transfer.memory_cap = simulated_memory(memory, plan.workers, largest);
  plan.transfer.concurrency.max =
      or_default(static_cast<int>(m.concurrency), plan.transfer.concurrency.max);
  const auto usual = duration(std::chrono::microseconds(20));
  plan.costs = {.request_nanoseconds = nanoseconds_of(or_default(m.request_time, usual)),
                .byte_nanoseconds = or_default(m.byte_nanoseconds, 0.65),
                .connecting = from_seconds(or_default(m.connecting_trips, std::uint32_t{2}) *
                                           network.round_trip),
                .io_threads = (plan.processors + 3) / 4,
                .leaves_memory = true};
  // So many that the pace is found before half of them, and stays visible with large batches.
  plan.enough_items = std::max<std::uint64_t>(
      30'000, std::min<std::uint64_t>(20 * plan.batch * plan.workers, 300'000));
  plan.enough_bytes =
      std::max(std::uint64_t{4} << 30U, 2 * plan.workers * plan.transfer.memory_cap);
  return plan;
}

}  // namespace detail

DATAFLUX_INLINE std::vector<objects_of_size> objects_of(const object_columns& rows) {
  detail::size_tally tally;
  for (std::size_t i = 0; i < rows.chunk_count(); ++i) {
    const object_chunk chunk = rows.chunk(i);
    for (std::size_t row = 0; row < chunk.rows; ++row) tally.add(chunk.sizes[row]);
  }
  std::vector<objects_of_size> all;
  for (const auto& [bytes, count] : tally.sizes()) all.push_back({bytes, count});
  return all;
}

namespace detail {

struct bound_texts {
  std::string_view name;
  std::string_view sentence;
};
inline bound_texts texts_of(epoch_bound bound) noexcept {
  switch (bound) {
    case epoch_bound::step:
      return {"step", "The training step bounds: reading keeps up with it."};
    case epoch_bound::link:
      return {"link", "The link bounds: it is full, and only a faster one or fewer bytes help."};
    case epoch_bound::processors:
      return {"processors",
              "Processors bound: they are busy with requests and bytes. Larger objects or shards, "
              "more processors, or workers where processors are idle, help."};
    case epoch_bound::decoding:
      return {"decoding",
              "Decoding bounds: more threads for it, more workers or more processors help."};
    case epoch_bound::memory:
      return {"memory",
              "Memory bounds: reads under way fill it while the link is idle. More of it, or a "
              "shorter round trip, helps."};
    case epoch_bound::concurrency:
      return {"concurrency",
              "The round trip bounds: all reads that may be in flight are. Larger objects or "
              "shards, more reads in flight, or workers help."};
    case epoch_bound::start:
      return {
          "start",
          "The start bounds: the epoch is over, or has done most of its waiting, before reads have "
          "found their pace."};
  }
  return {"unknown", "Unknown."};
}

}  // namespace detail

DATAFLUX_INLINE std::string_view to_string(epoch_bound bound) noexcept {
  return detail::texts_of(bound).name;
}
DATAFLUX_INLINE std::string_view explain(epoch_bound bound) noexcept {
  return detail::texts_of(bound).sentence;
}

DATAFLUX_INLINE result<epoch_forecast> simulate_epoch(const epoch_model& model,
                                                      const std::stop_token& stop) {
  try {
    if (auto good = detail::check_bounds(model); !good) return std::move(good).error();
    const std::uint64_t memory = detail::or_default(model.memory, std::uint64_t{256} << 20U);
    const auto size = detail::size_of_epoch(model, memory);
    if (!size) return size.error();
    const auto network = detail::network_of(model);
    const auto plan = detail::plan_of(model, network, *size, memory);
    detail::simulated_epoch epoch(network, plan);
    const auto outcome = epoch.run(stop);
    if (!outcome) return outcome.error();
    return detail::forecast_of(*outcome, network, plan, *size, model.prices);
  } catch (const std::bad_alloc&) {
    return detail::short_of_memory();
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI
