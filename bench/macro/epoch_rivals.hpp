#pragma once

#include <dataflux/detail/seconds.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/simulate/detail/simulated_epoch.hpp>
#include <dataflux/store/detail/shared_link.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

/// Other ways through an epoch, by the requests that they make, over the same simulated network.
/// Their own work takes no time, their requests never fail, and memory is no limit for them.

using dataflux::detail::epoch_plan;
using dataflux::detail::epoch_sample;
using dataflux::detail::simulated_network;

/// Requests between which the network's bandwidth is shared.
class simulated_wire {
 public:
  simulated_wire(dataflux::virtual_scheduler& clock, const simulated_network& network)
      : clock_(clock),
        network_(network),
        link_(clock, network.connection_rate, network.total_rate),
        random_(network.seed) {}

  /// A reply of so many bytes, for which the service works so long.
  void request(std::uint64_t bytes, double service_seconds, dataflux::task done) {
    const double trip = network_.round_trip * factor(network_.jitter) + service_seconds;
    const double weight = factor(network_.rate_spread);
    clock_.at(clock_.now() + dataflux::detail::from_seconds(trip),
              [this, bytes, weight, done = std::move(done)]() mutable {
                if (bytes == 0) return done();
                auto counted = [this, bytes, done = std::move(done)]() mutable {
                  received_ += bytes;
                  done();
                };
                link_.start(bytes, std::move(counted), weight);
              });
  }

  /// Bytes of replies that have ended.
  std::uint64_t received() const noexcept { return received_; }

 private:
  double factor(double sigma) { return std::exp(sigma * normal_(random_)); }

  dataflux::virtual_scheduler& clock_;
  const simulated_network network_;
  dataflux::detail::shared_link link_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_{};
  std::uint64_t received_{0};
};

struct rival_plan {
  epoch_plan epoch{};
  /// Jobs at a time. A job is so many items that one worker reads, one after the other.
  std::size_t workers{1};
  std::uint64_t items_per_job{1};
  /// Job i goes to worker i modulo their number, and is begun when the consumer has had job
  /// i - 2 x workers: what torch's DataLoader does with its prefetch_factor of 2. Otherwise the
  /// next job goes to whoever is free, however far ahead.
  bool data_loader{false};
  /// Objects that are composed and read as one, at most, and the bytes of such a group; 1 = none
  /// are. A group ends with the object that reaches its limit (as in the original), or before it.
  std::uint64_t group_objects{1};
  std::uint64_t group_bytes{100'000'000};
  bool group_may_pass_limit{false};
  /// The next group waits for the removal of the composite.
  bool awaits_removal{false};
  double compose_seconds{0};  ///< that the service works for it, beside the round trip
};

struct rival_outcome {
  epoch_sample start{};  ///< where it begins to count
  epoch_sample end{};
  std::uint64_t class_a{0};
  std::uint64_t class_b{0};
};

class rival_epoch {
 public:
  rival_epoch(const simulated_network& network, const rival_plan& plan, double start_up)
      : plan_(plan),
        wire_(clock_, network),
        jobs_((plan.epoch.items + plan.items_per_job - 1) / plan.items_per_job),
        start_up_(start_up) {}

  rival_outcome run() {
    began_ = clock_.now();
    begin_jobs();
    ask();
    clock_.run();
    return outcome_;
  }

 private:
  enum class state : std::uint8_t { idle, busy, ready };

  double now() const { return std::chrono::duration<double>(clock_.now() - began_).count(); }
  std::uint64_t items_of(std::uint64_t job) const {
    return std::min(plan_.items_per_job, plan_.epoch.items - job * plan_.items_per_job);
  }
  bool may_begin(std::uint64_t job) const {
    if (!plan_.data_loader) return busy_ < plan_.workers;
    const bool free = job < plan_.workers || jobs_[job - plan_.workers] == state::ready;
    return free && job < had_ / plan_.items_per_job + 2 * plan_.workers;
  }
  void begin_jobs() {
    if (!plan_.data_loader) {
      while (next_ < jobs_.size() && may_begin(next_)) begin(next_++);
      return;
    }
    for (std::uint64_t j = first_; j < jobs_.size() && j < first_ + 2 * plan_.workers; ++j) {
      if (jobs_[j] == state::idle && may_begin(j)) begin(j);
    }
  }
  void begin(std::uint64_t job) {
    jobs_[job] = state::busy;
    ++busy_;
    read(job, items_of(job));
  }
  /// The next group of the job.
  void read(std::uint64_t job, std::uint64_t left) {
    if (left == 0) return ended(job);
    const std::uint64_t bytes = plan_.epoch.sizes.front();
    std::uint64_t most = plan_.group_bytes / bytes;
    if (plan_.group_may_pass_limit && bytes <= plan_.group_bytes) ++most;
    const std::uint64_t count =
        std::clamp<std::uint64_t>(most, 1, std::min(left, plan_.group_objects));
    ++outcome_.class_b;
    if (count == 1) {
      return wire_.request(bytes, 0, [this, job, left] { read(job, left - 1); });
    }
    ++outcome_.class_a;
    wire_.request(0, plan_.compose_seconds, [this, job, left, count, bytes] {
      wire_.request(count * bytes, 0,
                    [this, job, left, count] { composite_read(job, left, count); });
    });
  }
  void composite_read(std::uint64_t job, std::uint64_t left, std::uint64_t count) {
    if (plan_.awaits_removal) {
      return wire_.request(0, 0, [this, job, rest = left - count] { read(job, rest); });
    }
    wire_.request(0, 0, [] {});
    read(job, left - count);
  }
  void ended(std::uint64_t job) {
    jobs_[job] = state::ready;
    --busy_;
    while (first_ < jobs_.size() && jobs_[first_] == state::ready) there_ += items_of(first_++);
    begin_jobs();
    take();
  }

  void ask() {
    waiting_ = true;
    asked_at_ = now();
    take();
  }
  void take() {
    const epoch_plan& e = plan_.epoch;
    const std::uint64_t batch = std::min<std::uint64_t>(e.batch, e.items - had_);
    if (!waiting_ || batch == 0 || there_ < had_ + batch) return;
    waiting_ = false;
    had_ += batch;
    outcome_.end = {.time = now(),
                    .received = wire_.received(),
                    .items = had_,
                    .waited = outcome_.end.waited + now() - asked_at_};
    if (now() <= start_up_) outcome_.start = outcome_.end;
    begin_jobs();
    clock_.at(clock_.now() + dataflux::detail::from_seconds(e.step), [this] { ask(); });
  }

  const rival_plan plan_;
  dataflux::virtual_scheduler clock_{};
  simulated_wire wire_;
  std::vector<state> jobs_;
  const double start_up_;
  dataflux::time_point began_{};
  std::size_t busy_{0};
  std::uint64_t next_{0};
  std::uint64_t first_{0};  ///< job; those before it are ready
  std::uint64_t there_{0};  ///< items of jobs before first_
  std::uint64_t had_{0};    ///< items that the consumer has had
  bool waiting_{false};
  double asked_at_{0};
  rival_outcome outcome_{};
};
