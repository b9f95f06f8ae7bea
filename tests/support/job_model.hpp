#pragma once

#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/http/detail/pacing.hpp>
#include <dataflux/service/detail/job_share.hpp>
#include <dataflux/store/memory_store.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// How the ranks of a job are simulated, which ask for one object each, again and again.
struct job_settings {
  std::uint32_t ranks{64};
  /// Of each; what is refused is asked for again.
  std::uint32_t in_flight{32};
  /// What the service takes a second at the beginning, and in what time it doubles; 0 = it stays.
  double takes{1000};
  dataflux::duration doubles{std::chrono::minutes(1)};
  /// What the job is told of that. Without a job each rank has its client's pacing alone.
  bool shares{true};
  dataflux::detail::service::job_share_options told{};
  dataflux::duration beat{std::chrono::milliseconds(200)};
  dataflux::duration length{std::chrono::minutes(2)};
  /// So many ranks are killed in the middle, or say nothing any more and go on.
  std::uint32_t die{0};
  std::uint32_t fall_silent{0};
  /// Of the ranks with the highest numbers: want so many a second.
  std::uint32_t slow{0};
  double slow_rate{1};
  /// The board is gone from the middle on.
  bool board_goes{false};
};

struct job_outcome {
  std::uint64_t taken{0};
  std::uint64_t refused{0};
  double allowed{0};                     ///< of the service's rate in that time
  std::vector<std::uint64_t> by_rank{};  ///< taken

  double rate() const noexcept { return static_cast<double>(taken) / allowed; }
  double share_refused() const noexcept {
    return static_cast<double>(refused) / static_cast<double>(taken + refused);
  }
};

/// The ranks of a job on one simulated service and board, in simulated time.
class job_model {
 public:
  explicit job_model(job_settings settings)
      : s_(std::move(settings)),
        store_(clock_, {.rtt = std::chrono::milliseconds(20),
                        .jitter = 0.2,
                        .requests_per_second = s_.takes,
                        .rate_doubles = s_.doubles}),
        began_(clock_.now()) {
    s_.told.processes = s_.ranks;
    store_.put("bucket", "object", dataflux::synthetic_bytes(1, 1));
    board_.resize(s_.ranks);
    for (std::uint32_t r = 0; r < s_.ranks; ++r) ranks_.push_back(std::make_unique<rank>(*this, r));
  }

  job_outcome run() {
    for (const auto& each : ranks_) each->begin();
    const dataflux::time_point middle = began_ + s_.length / 2;
    const dataflux::time_point end = began_ + s_.length;
    while (clock_.now() < middle && clock_.run_one()) {
    }
    go_wrong();
    at_middle_ = counted();
    while (clock_.now() < end && clock_.run_one()) {
    }
    const job_outcome out = counted();
    for (const auto& each : ranks_) each->dead_ = true;
    clock_.run();
    return out;
  }

  /// Of the second half.
  job_outcome second_half(const job_outcome& whole) const {
    job_outcome half = whole;
    half.taken -= at_middle_.taken;
    half.refused -= at_middle_.refused;
    half.allowed -= at_middle_.allowed;
    for (std::size_t r = 0; r < half.by_rank.size(); ++r) half.by_rank[r] -= at_middle_.by_rank[r];
    return half;
  }

 private:
  struct rank {
    rank(job_model& all, std::uint32_t number)
        : m_(all), number_(number), share_(told(), all.clock_.now()) {}

    void begin() {
      if (m_.s_.shares) lane_.limit(share_.first_limit(false), m_.clock_.now());
      for (std::uint32_t i = 0; i < m_.s_.in_flight; ++i) is_slow() ? later(i + 1) : ask();
      const auto phase = m_.s_.beat * static_cast<std::int64_t>(number_ + 1) / m_.s_.ranks;
      if (m_.s_.shares) m_.clock_.at(m_.clock_.now() + phase, [this] { beat(); });
    }

    dataflux::detail::service::job_share_options told() const {
      auto options = m_.s_.told;
      options.rank = number_;
      return options;
    }
    bool is_slow() const { return number_ >= m_.s_.ranks - m_.s_.slow; }

    void ask() {
      if (dead_) return;
      ++waiting_;
      serve();
    }
    void serve() {
      if (armed_ || dead_) return;
      while (waiting_ > 0) {
        const dataflux::time_point now = m_.clock_.now();
        const dataflux::time_point turn = std::max(lane_.admit(now), now);
        if (turn > now) {
          armed_ = true;
          m_.clock_.at(turn, [this] {
            armed_ = false;
            serve();
          });
          return;
        }
        --waiting_;
        send(now);
      }
    }
    void send(dataflux::time_point started) {
      m_.store_.start(dataflux::stat_request{.bucket = "bucket", .object = "object"},
                      [this, started](const auto& got) {
                        using dataflux::detail::http::pace_outcome;
                        lane_.report(started, m_.clock_.now(),
                                     got ? pace_outcome::not_rejected : pace_outcome::rejected);
                        ++(got ? taken_ : refused_);
                        again();
                      });
    }
    void again() {
      if (!is_slow()) return ask();
      later(m_.s_.in_flight);
    }
    void later(std::uint32_t count) {
      const double wait = count / m_.s_.slow_rate;
      m_.clock_.at(m_.clock_.now() + std::chrono::duration_cast<dataflux::duration>(
                                         std::chrono::duration<double>(wait)),
                   [this] { ask(); });
    }
    void beat() {
      if (dead_ || silent_) return;
      const dataflux::time_point now = m_.clock_.now();
      if (!m_.board_gone_) {
        for (const std::string& each : m_.board_) share_.saw(each, now);
      }
      const auto seen = lane_.snapshot(now);
      const dataflux::pacing_snapshot lane{.bucket = "bucket",
                                           .kind = "read",
                                           .waiting = waiting_,
                                           .started = seen.started,
                                           .rejected = seen.rejected};
      for (const auto& each : share_.beat({&lane, 1}, now)) lane_.limit(each.rate, now);
      if (!m_.board_gone_) m_.board_[number_] = share_.record();
      m_.clock_.at(now + m_.s_.beat, [this] { beat(); });
    }

    job_model& m_;
    std::uint32_t number_;
    dataflux::detail::http::pacing::lane lane_{};
    dataflux::detail::service::job_share share_;
    std::size_t waiting_{0};
    std::uint64_t taken_{0};
    std::uint64_t refused_{0};
    bool armed_{false};
    bool dead_{false};
    bool silent_{false};
  };

  void go_wrong() {
    for (std::uint32_t r = 0; r < s_.die; ++r) ranks_[r]->dead_ = true;
    for (std::uint32_t r = 0; r < s_.fall_silent; ++r) ranks_[r]->silent_ = true;
    board_gone_ = s_.board_goes;
  }

  job_outcome counted() const {
    job_outcome now;
    for (const auto& each : ranks_) {
      now.taken += each->taken_;
      now.refused += each->refused_;
      now.by_rank.push_back(each->taken_);
    }
    const double passed = std::chrono::duration<double>(clock_.now() - began_).count();
    const double doubles = std::chrono::duration<double>(s_.doubles).count();
    now.allowed =
        s_.takes *
        (doubles > 0 ? doubles * (std::exp2(passed / doubles) - 1) / std::log(2.0) : passed);
    return now;
  }

  job_settings s_;
  dataflux::virtual_scheduler clock_{};
  dataflux::memory_store store_;
  const dataflux::time_point began_;
  std::vector<std::string> board_{};
  bool board_gone_{false};
  std::vector<std::unique_ptr<rank>> ranks_{};
  job_outcome at_middle_{};
};
