#pragma once

#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/detail/shared_link.hpp>
#include <dataflux/transfer/detail/concurrency.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>

/// A network and a service between which requests run in simulated time.
struct link_settings {
  dataflux::duration round_trip{std::chrono::milliseconds(20)};
  double sigma{0};  ///< of the log-normal factor of a round trip
  double connection_rate{50e6};
  double total_rate{1.25e9};
  /// Requests that the service takes in a second, and as a burst a tenth of it; others are refused
  /// after a round trip and sent again 50 ms later. 0 = any number.
  double requests_per_second{0};
};

/// Reads without end, as many at a time as the control (or a fixed number) allows.
class link_fixture {
 public:
  using sizes = std::function<std::uint64_t(std::mt19937_64&)>;

  link_fixture(link_settings settings, sizes next_size,
               dataflux::detail::concurrency_control* control, int fixed = 0)
      : settings_(settings),
        next_size_(std::move(next_size)),
        control_(control),
        fixed_(fixed),
        link_(clock_, settings.connection_rate, settings.total_rate) {}

  void run_for(std::chrono::duration<double> time) {
    advance();
    clock_.run_for(std::chrono::duration_cast<dataflux::duration>(time));
  }
  /// Bytes on the link, requests ended and requests refused a second, since the last call.
  struct rates {
    double bytes{0};
    double requests{0};
    double rejected{0};
  };
  rates take_rates() {
    flow(0);
    const double time = std::chrono::duration<double>(clock_.now() - taken_at_).count();
    const rates r{bytes_ / time, requests_ / time, rejected_ / time};
    taken_at_ = clock_.now();
    bytes_ = requests_ = rejected_ = 0;
    return r;
  }
  link_settings& settings() { return settings_; }
  /// Most requests that the reader wants at a time; 0 = any number.
  void want(int most) { wanted_ = most; }
  dataflux::virtual_scheduler& clock() { return clock_; }

 private:
  struct request {
    dataflux::time_point started{};
    dataflux::time_point first_byte{};
    std::uint64_t bytes{0};
  };

  void advance() {
    while ((control_ ? control_->may_start() : in_flight_ < fixed_) &&
           (wanted_ == 0 || in_flight_ < wanted_)) {
      ++in_flight_;
      if (control_) control_->started(clock_.now());
      send({.started = clock_.now(), .bytes = next_size_(random_)});
    }
  }
  void send(request r) {
    const double factor = settings_.sigma > 0 ? std::exp(settings_.sigma * normal_(random_)) : 1;
    const auto trip = std::chrono::duration_cast<dataflux::duration>(
        std::chrono::duration<double>(settings_.round_trip) * factor);
    const bool taken = admitted();
    clock_.at(clock_.now() + trip, [this, r, taken]() mutable {
      if (!taken) return refused(r);
      r.first_byte = clock_.now();
      flow(1);
      link_.start(r.bytes, [this, r] { ended(r); });
    });
  }
  bool admitted() {
    if (settings_.requests_per_second <= 0) return true;
    const double rate = settings_.requests_per_second;
    tokens_ += rate * std::chrono::duration<double>(clock_.now() - filled_).count();
    tokens_ = std::min(tokens_, rate / 10);
    filled_ = clock_.now();
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }
  /// Counts what has passed the link so far, then `change` transfers more are on it. Bytes of whole
  /// requests come in waves, and would tell little about a second.
  void flow(int change) {
    const double own = settings_.connection_rate > 0 ? settings_.connection_rate * flowing_ : 1e30;
    const double rate = flowing_ > 0 ? std::min(own, settings_.total_rate) : 0;
    bytes_ += rate * std::chrono::duration<double>(clock_.now() - flowed_).count();
    flowed_ = clock_.now();
    flowing_ += change;
  }
  void refused(const request& r) {
    ++rejected_;
    if (control_) control_->throttled(r.started, clock_.now());
    clock_.at(clock_.now() + std::chrono::milliseconds(50), [this, r] { send(r); });
  }
  void ended(const request& r) {
    flow(-1);
    --in_flight_;
    ++requests_;
    if (control_) control_->finished({r.started, r.first_byte, clock_.now(), r.bytes});
    advance();
  }

  link_settings settings_;
  sizes next_size_;
  dataflux::detail::concurrency_control* control_;
  int fixed_;
  int wanted_{0};
  int in_flight_{0};
  dataflux::virtual_scheduler clock_{};
  dataflux::detail::shared_link link_;
  dataflux::time_point taken_at_{clock_.now()};
  dataflux::time_point filled_{};
  dataflux::time_point flowed_{clock_.now()};
  int flowing_{0};
  double tokens_{0};
  double bytes_{0};
  double requests_{0};
  double rejected_{0};
  std::mt19937_64 random_{1};
  std::normal_distribution<double> normal_{};
};
