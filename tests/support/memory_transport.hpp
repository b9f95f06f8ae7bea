#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/http/detail/transport.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// One request that a memory_transport was given, taken down when it was submitted.
struct memory_request {
  http::method method{http::method::get};
  http::origin origin{};
  std::string target{};
  header_list headers{};
  std::string body{};
  /// On the scheduler's clock.
  time_point submitted{};
};

/// The answer of a scripted peer to one request. The default is an empty 200 at once.
struct memory_reply {
  int status{200};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  /// From submission to the head of the reply, or to a failure before it.
  duration delay{0};
  /// From the head to the first byte of the body, and between its pieces.
  duration body_delay{0};
  /// Bytes of the body that arrive at a time.
  std::size_t piece{65536};
  /// Whether the head tells the length; false for a chunked reply.
  bool length_known{true};
  /// How the exchange ends if not with a whole reply: before the head, unless `fails_after` says
  /// how many bytes of the body come first.
  transport_failure failure{transport_failure::none};
  std::optional<std::size_t> fails_after{};

  bool failure_before_head() const noexcept {
    return failure != transport_failure::none && !fails_after;
  }
};

/// A transport without sockets whose peer is a function: whatever stands on it is tested in virtual
/// time, the same way at every run. It keeps the contract of transport to the letter (phases,
/// limits, cancellation), with these phases: the reply's delay counts against `first_byte` and
/// `deadline`, body_delay against `stall` and `deadline`; a window of
/// `least_bytes` is checked with the next piece after its end.
///
///     virtual_scheduler time;
///     memory_transport net(time, [](const memory_request& r) { return memory_reply{.body = "x"};
///     });
///     ... submit ...
///     time.run();
///
/// Not thread-safe, unlike other transports: one thread submits and runs the scheduler. The
/// scheduler outlives it.
class memory_transport final : public transport {
 public:
  /// Called once per request, in order of submission, when the request is submitted.
  using handler = unique_function<memory_reply(const memory_request&)>;

  memory_transport(virtual_scheduler& time, handler peer);
  ~memory_transport() override;

  void submit(ref<exchange> e) override;
  void cancel(ref<exchange> e) noexcept override;
  scheduler& next_executor() noexcept override { return time_; }
  bool is_current() const noexcept override { return false; }

  /// Every request so far, in order of submission.
  const std::vector<memory_request>& log() const noexcept { return log_; }
  /// Exchanges that have not ended.
  std::size_t in_flight() const noexcept { return flights_.size(); }

 private:
  struct flight;

  void deliver_head(flight& f);
  void wait_for_body(flight& f);
  void deliver_body(flight& f);
  void wait_for(flight& f, duration wait, duration limit, transport_failure late,
                void (memory_transport::*then)(flight&));
  void finish(flight& f, transport_failure failure, std::string detail = {});

  virtual_scheduler& time_;
  handler peer_;
  std::vector<memory_request> log_{};
  std::vector<std::unique_ptr<flight>> flights_{};
  bool closed_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
