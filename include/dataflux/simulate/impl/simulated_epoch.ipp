#pragma once

#include <dataflux/detail/fifo.hpp>
#include <dataflux/detail/seconds.hpp>
#include <dataflux/simulate/detail/simulated_epoch.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE memory_store_options simulated_network::options() const {
  return {.rtt = from_seconds(round_trip),
          .jitter = jitter,
          .bytes_per_second_per_connection = connection_rate,
          .bytes_per_second_total = total_rate,
          .rate_spread = rate_spread,
          .piece_size = 128U << 10U,
          .seed = seed};
}

DATAFLUX_INLINE const epoch_sample& epoch_outcome::at(double time) const {
  const auto after = std::upper_bound(samples.begin(), samples.end(), time,
                                      [](double t, const epoch_sample& s) { return t < s.time; });
  return after == samples.begin() ? *after : *(after - 1);
}

/// Batches of one process go from being gathered by decoding to ready, in their order; as many are
/// under way as the plan has ahead.
class simulated_epoch::process {
 public:
  process(simulated_epoch& of, std::size_t number)
      : of_(of),
        number_(number),
        store_(of.store_, of.processors_, of.plan_.costs),
        context_(store_, of.plan_.transfer),
        decoders_(of.processors_, of.plan_.decode_threads) {
    items_.emplace(
        context_,
        get_many_request{.bucket = "bucket", .order = of.plan_.order, .compose = of.plan_.compose},
        get_source([this] { return of_.request(next_item()); }));
  }

  /// The consumer waits for a batch of this one, or has taken one.
  void advance(bool awaited) {
    const std::size_t most = of_.plan_.ahead > 0 ? of_.plan_.ahead : (awaited ? 1 : 0);
    const std::size_t begun = ready_.size() + decoding_.size() + (gathering_ ? 1 : 0);
    if (gathering_ || ended_ || begun >= most) return;
    gathering_ = true;
    gathered_ = {};
    gather();
  }
  struct made {
    std::uint64_t items{0};
    std::uint64_t bytes{0};
  };
  std::optional<made> take() {
    if (ready_.empty()) return std::nullopt;
    const made first = ready_.front();
    ready_.pop_front();
    return first;
  }
  void close() {
    ended_ = true;
    items_->cancel();
  }
  transfer_counters counters() const { return context_.counters(); }
  const read_totals& totals() const noexcept { return store_.totals(); }
  std::uint64_t io_spent() const noexcept { return store_.spent(); }
  std::uint64_t decode_spent() const noexcept { return decoders_.spent(); }

 private:
  struct decoded {
    made batch{};
    std::uint64_t left{0};
  };

  /// Of the epoch: batches go around.
  std::uint64_t next_item() {
    const std::uint64_t batch = of_.plan_.batch;
    const std::uint64_t turn = pulled_ / batch;
    return (turn * of_.plan_.workers + number_) * batch + pulled_++ % batch;
  }
  /// Until the batch is whole, or the epoch over. Memory is given back at once: bytes that a
  /// reader has borrowed are no part of the cap.
  void gather() {
    items_->start_next_batch(of_.plan_.batch - gathered_.items, [this](auto got) {
      if (ended_) return;
      if (!got) return of_.fail(got.error());
      for (const got_item& item : *got) {
        if (item.failure) return of_.fail(*item.failure);
        gathered_.bytes += item.bytes.size();
      }
      gathered_.items += got->size();
      if (gathered_.items < of_.plan_.batch && !got->empty()) {
        of_.clock_.post([this] { gather(); });
        return;
      }
      ended_ = got->empty();
      decode();
    });
  }
  /// What was gathered. The next batch is gathered meanwhile.
  void decode() {
    gathering_ = false;
    if (gathered_.items == 0) return;
    decoding_.push_back({gathered_, gathered_.items});
    const std::uint64_t number = decoded_ + decoding_.size() - 1;
    for (std::uint64_t i = 0; i < gathered_.items; ++i) {
      decoders_.run(of_.plan_.decode_nanoseconds, [this, number] { one_decoded(number); });
    }
    advance(false);
  }
  void one_decoded(std::uint64_t batch) {
    --decoding_[batch - decoded_].left;
    if (decoding_.front().left > 0) return;
    for (; !decoding_.empty() && decoding_.front().left == 0; ++decoded_) {
      ready_.push_back(decoding_.front().batch);
      decoding_.pop_front();
    }
    of_.clock_.post([this] { of_.take(); });
  }

  simulated_epoch& of_;
  const std::size_t number_;
  machine_store store_;
  transfer_context context_;
  simulated_threads decoders_;
  std::optional<getter> items_{};
  std::uint64_t pulled_{0};
  made gathered_{};
  bool gathering_{false};
  bool ended_{false};
  fifo<decoded> decoding_{};
  std::uint64_t decoded_{0};  ///< batches
  fifo<made> ready_{};
};

DATAFLUX_INLINE simulated_epoch::simulated_epoch(const simulated_network& network,
                                                 const epoch_plan& plan)
    : plan_(plan), store_(clock_, network.options()), processors_(clock_, plan.processors) {
  rows_.reserve(plan.sizes.size());
  for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
    get_request row{.object = "train/" + std::to_string(i), .object_size = plan.sizes[i]};
    row.generation = store_.put("bucket", row.object, synthetic_bytes(plan.sizes[i], i));
    rows_.push_back(std::move(row));
  }
}

DATAFLUX_INLINE simulated_epoch::~simulated_epoch() { close(); }

/// On the strand getters end without waiting: what they have under way runs to its end here.
DATAFLUX_INLINE void simulated_epoch::close() {
  done_ = true;
  for (const auto& each : processes_) each->close();
  clock_.run();
  processes_.clear();
}

DATAFLUX_INLINE double simulated_epoch::now() const { return to_seconds(clock_.now() - began_); }

DATAFLUX_INLINE result<epoch_outcome> simulated_epoch::run(const std::stop_token& stop) {
  began_ = clock_.now();
  for (std::size_t i = 0; i < plan_.workers; ++i) {
    processes_.push_back(std::make_unique<process>(*this, i));
  }
  for (const auto& each : processes_) each->advance(false);
  ask();
  tick();
  while (!done_ && clock_.run_one()) {
    if (stop.stop_requested()) fail(error(errc::cancelled, "the caller asked to stop"));
  }
  if (!done_) fail(error(errc::internal, "the simulated epoch stands still"));
  if (failure_) return *failure_;
  note();
  for (const auto& each : processes_) {
    const transfer_counters counters = each->counters();
    outcome_.peak_held += counters.peak_held;
    outcome_.hedged += counters.hedges.asked;
    outcome_.reads.reads += each->totals().reads;
    outcome_.reads.bytes += each->totals().bytes;
  }
  outcome_.requests = store_.counters().of(store_verb::read);
  outcome_.composed = store_.counters().of(store_verb::compose);
  close();
  return std::move(outcome_);
}

DATAFLUX_INLINE std::optional<get_request> simulated_epoch::request(std::uint64_t item) {
  if (done_ || item >= plan_.items) return std::nullopt;
  outcome_.last_pulled = now();
  return rows_[item % rows_.size()];
}

DATAFLUX_INLINE void simulated_epoch::fail(const error& why) {
  if (!failure_) failure_ = why;
  done_ = true;
}

DATAFLUX_INLINE void simulated_epoch::ask() {
  asked_at_ = now();
  waiting_ = true;
  processes_[batches_had_ % plan_.workers]->advance(true);
  take();
}

DATAFLUX_INLINE void simulated_epoch::take() {
  if (!waiting_ || done_) return;
  process& from = *processes_[batches_had_ % plan_.workers];
  const auto batch = from.take();
  if (!batch) return;
  waiting_ = false;
  waited_ += now() - asked_at_;
  ++batches_had_;
  items_had_ += batch->items;
  bytes_had_ += batch->bytes;
  batch_bytes_ = batch->bytes;
  outcome_.batches.push_back({.time = now(), .waited = waited_, .items = items_had_});
  from.advance(false);
  step();
}

DATAFLUX_INLINE void simulated_epoch::step() {
  const bool enough = items_had_ >= plan_.enough_items || bytes_had_ >= plan_.enough_bytes;
  if (enough || items_had_ >= plan_.items) {
    done_ = true;
    return;
  }
  clock_.at(clock_.now() + from_seconds(plan_.step), [this] {
    batch_bytes_ = 0;
    if (!done_) ask();
  });
}

DATAFLUX_INLINE void simulated_epoch::tick() {
  if (done_) return;  // the end has a sample of its own
  note();
  clock_.at(clock_.now() + sample_every_, [this] { tick(); });
}

DATAFLUX_INLINE void simulated_epoch::note() {
  constexpr std::size_t most = 65'536;
  auto& all = outcome_.samples;
  if (all.size() >= most) {
    for (std::size_t i = 0; i < most / 2; ++i) all[i] = all[2 * i];
    all.resize(most / 2);
    sample_every_ *= 2;
  }
  all.push_back(sample());
}

DATAFLUX_INLINE epoch_sample simulated_epoch::sample() const {
  epoch_sample s{.time = now(),
                 .received = store_.counters().bytes_received,
                 .items = items_had_,
                 .waited = waited_ + (waiting_ ? now() - asked_at_ : 0),
                 .borrowed = batch_bytes_,
                 .processor_spent = processors_.spent()};
  for (const auto& each : processes_) {
    const transfer_counters counters = each->counters();
    s.held += counters.held;
    s.limit += counters.concurrency;
    s.in_flight += counters.in_flight;
    s.io_spent += each->io_spent();
    s.decode_spent += each->decode_spent();
  }
  return s;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
