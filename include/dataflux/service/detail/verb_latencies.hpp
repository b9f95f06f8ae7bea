#pragma once

#include <dataflux/detail/latency_recorder.hpp>
#include <dataflux/http/detail/transport.hpp>
#include <dataflux/observer.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// The latencies of a client, by verb and I/O thread, so that each is written by one thread.
///
/// Threads: add() of a thread's report on that thread, add_to() on any.
/// Memory: 2 KiB for each verb and thread that is used, from its first attempt on.
class verb_latencies {
 public:
  /// `verbs`: their names, which outlive this.
  verb_latencies(std::size_t threads, std::span<const std::string_view> verbs)
      : verbs_(verbs), threads_(threads), all_(verbs.size() * threads) {}
  verb_latencies(const verb_latencies&) = delete;
  verb_latencies& operator=(const verb_latencies&) = delete;
  ~verb_latencies() {
    for (const auto& one : all_) delete one.load(std::memory_order_relaxed);
  }

  /// An attempt of that verb has ended, `begun` and `ended` by the clock of its thread.
  /// Without memory for it, it is not counted.
  void add(std::size_t verb, time_point begun, const http::exchange_report& report,
           time_point ended) noexcept {
    if (report.started == never) return;
    phases* const to = phases_of(verb, report.thread);
    if (to == nullptr) return;
    to->queued.add(report.started - begun);
    if (report.first_byte == never) return;
    to->first_byte.add(report.first_byte - report.started);
    if (report.failure == http::transport_failure::none) to->body.add(ended - report.first_byte);
  }

  void add_to(std::vector<verb_latency>& seen) const {
    for (std::size_t verb = 0; verb < verbs_.size(); ++verb) {
      verb_latency sum{.verb = verbs_[verb]};
      bool any = false;
      for (std::size_t thread = 0; thread < threads_; ++thread) {
        const phases* const one = at(verb, thread).load(std::memory_order_acquire);
        if (one == nullptr) continue;
        any = true;
        one->queued.add_to(sum.queued);
        one->first_byte.add_to(sum.first_byte);
        one->body.add_to(sum.body);
      }
      if (any) seen.push_back(sum);
    }
  }

 private:
  struct phases {
    detail::latency_recorder queued{};
    detail::latency_recorder first_byte{};
    detail::latency_recorder body{};
  };
  using place = std::atomic<phases*>;

  const place& at(std::size_t verb, std::size_t thread) const noexcept {
    return all_[verb * threads_ + thread];
  }
  place& at(std::size_t verb, std::size_t thread) noexcept {
    return all_[verb * threads_ + thread];
  }
  phases* phases_of(std::size_t verb, std::size_t thread) noexcept {
    place& mine = at(verb, thread);
    phases* known = mine.load(std::memory_order_relaxed);
    if (known == nullptr) {
      known = new (std::nothrow) phases;
      mine.store(known, std::memory_order_release);
    }
    return known;
  }

  const std::span<const std::string_view> verbs_;
  const std::size_t threads_;
  std::vector<place> all_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
