#pragma once

#include <dataflux/download/getter.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/memory_store.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// An epoch through the real getter, over a simulated network, in simulated time.

/// A region of a cloud, seen from a machine in it.
struct simulated_network {
  double round_trip{0.020};
  /// Sigma of the logarithm of a request's round trip, and of its rate.
  double jitter{0.2};
  double rate_spread{0.2};
  double connection_rate{50e6};
  double total_rate{1.25e9};
  std::uint64_t seed{1};

  dataflux::memory_store_options options() const {
    return {.rtt = to_duration(round_trip),
            .jitter = jitter,
            .bytes_per_second_per_connection = connection_rate,
            .bytes_per_second_total = total_rate,
            .rate_spread = rate_spread,
            .piece_size = 128U << 10U,
            .seed = seed};
  }
  static dataflux::duration to_duration(double seconds) {
    return std::chrono::duration_cast<dataflux::duration>(std::chrono::duration<double>(seconds));
  }
};

struct epoch_plan {
  std::uint64_t objects{0};
  std::uint64_t bytes{0};  ///< of each
  std::uint64_t epochs{1};
  /// The consumer takes so many items, lets `step` seconds pass, lets them go, and asks again.
  std::size_t batch{1};
  double step{0};
  dataflux::get_order order{dataflux::get_order::as_asked};
  std::optional<dataflux::compose_options> compose{};
  dataflux::transfer_options transfer{};

  std::uint64_t items() const noexcept { return objects * epochs; }
};

/// What has happened up to a moment.
struct epoch_sample {
  double time{0};
  std::uint64_t received{0};  ///< body bytes on the link
  std::uint64_t items{0};     ///< that the consumer has had
  double waited{0};           ///< seconds that the consumer has waited
  std::uint64_t held{0};
  std::uint64_t borrowed{0};
  int limit{0};
  std::size_t in_flight{0};
};

struct epoch_outcome {
  /// Every 10 ms, then the end.
  std::vector<epoch_sample> samples{};
  std::vector<double> completions{};  ///< seconds from the pull of a request to its item
  double last_pulled{0};  ///< when the last request was pulled: the end of the steady state
  std::uint64_t peak_held{0};
  std::uint64_t peak_borrowed{0};
  std::uint64_t requests{0};  ///< reads
  std::uint64_t composed{0};
  std::uint64_t failed{0};
  dataflux::transfer_counters counters{};

  const epoch_sample& end() const { return samples.back(); }
  /// The last sample that is not later.
  const epoch_sample& at(double time) const {
    auto after = std::upper_bound(samples.begin(), samples.end(), time,
                                  [](double t, const epoch_sample& s) { return t < s.time; });
    return after == samples.begin() ? *after : *(after - 1);
  }
};

class simulated_epoch {
 public:
  simulated_epoch(const simulated_network& network, const epoch_plan& plan)
      : plan_(plan), store_(clock_, network.options()), context_(store_, plan.transfer) {
    for (std::uint64_t i = 0; i < plan.objects; ++i) {
      rows_.push_back({.object = name_of(i), .object_size = plan.bytes});
      rows_.back().generation =
          store_.put("bucket", rows_.back().object, dataflux::synthetic_bytes(plan.bytes, i));
    }
    outcome_.completions.resize(plan.items());
  }

  dataflux::memory_store& store() noexcept { return store_; }
  dataflux::virtual_scheduler& clock() noexcept { return clock_; }

  epoch_outcome run() {
    began_ = clock_.now();
    items_.emplace(context_,
                   dataflux::get_many_request{
                       .bucket = "bucket", .order = plan_.order, .compose = plan_.compose},
                   dataflux::get_source([this] { return pull(); }));
    ask();
    tick();
    while (!done_ && clock_.run_one()) {
    }
    if (!done_) throw std::runtime_error("the epoch stands still");
    note();
    outcome_.counters = context_.counters();
    outcome_.peak_held = outcome_.counters.peak_held;
    outcome_.requests = store_.counters().of(dataflux::store_verb::read);
    outcome_.composed = store_.counters().of(dataflux::store_verb::compose);
    clock_.run();  // a getter waits for its stream where it is not on the strand
    items_.reset();
    return std::move(outcome_);
  }

 private:
  static constexpr auto sample_every = std::chrono::milliseconds(10);

  static std::string name_of(std::uint64_t i) {
    char text[32];
    std::snprintf(text, sizeof text, "train/%010llu", static_cast<unsigned long long>(i));
    return text;
  }
  double now() const { return std::chrono::duration<double>(clock_.now() - began_).count(); }
  std::optional<dataflux::get_request> pull() {
    if (pulled_ == plan_.items()) return std::nullopt;
    outcome_.completions[pulled_] = -now();
    outcome_.last_pulled = now();
    return rows_[pulled_++ % rows_.size()];
  }
  void ask() {
    asked_at_ = now();
    waiting_ = true;
    gather();
  }
  /// Until the batch is whole, or the epoch over.
  void gather() {
    items_->start_next_batch(plan_.batch - batch_.size(), [this](auto got) {
      if (!got) throw dataflux::exception(got.error());
      for (auto& item : *got) {
        if (item.failure) ++outcome_.failed;
        outcome_.completions[item.index] += now();
        batch_.push_back(std::move(item));
      }
      items_had_ += got->size();
      if (batch_.size() < plan_.batch && !got->empty()) {
        clock_.post([this] { gather(); });
        return;
      }
      step();
    });
  }
  void step() {
    waiting_ = false;
    waited_ += now() - asked_at_;
    outcome_.peak_borrowed = std::max(outcome_.peak_borrowed, context_.counters().borrowed);
    if (items_had_ == plan_.items()) {
      done_ = true;
      return;
    }
    clock_.at(clock_.now() + simulated_network::to_duration(plan_.step), [this] {
      batch_.clear();
      ask();
    });
  }
  void tick() {
    note();
    if (!done_) clock_.at(clock_.now() + sample_every, [this] { tick(); });
  }
  void note() {
    const auto counters = context_.counters();
    outcome_.samples.push_back({.time = now(),
                                .received = store_.counters().bytes_received,
                                .items = items_had_,
                                .waited = waited_ + (waiting_ ? now() - asked_at_ : 0),
                                .held = counters.held,
                                .borrowed = counters.borrowed,
                                .limit = counters.concurrency,
                                .in_flight = counters.in_flight});
  }

  const epoch_plan plan_;
  dataflux::virtual_scheduler clock_{};
  dataflux::memory_store store_;
  dataflux::transfer_context context_;
  std::vector<dataflux::get_request> rows_{};
  std::optional<dataflux::getter> items_{};
  std::vector<dataflux::got_item> batch_{};
  dataflux::time_point began_{};
  std::uint64_t pulled_{0};
  std::uint64_t items_had_{0};
  double asked_at_{0};
  double waited_{0};
  bool waiting_{false};
  bool done_{false};
  epoch_outcome outcome_{};
};
