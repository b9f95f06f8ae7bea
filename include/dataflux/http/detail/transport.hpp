#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/detail/ref.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/http/detail/failure.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/observer.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

class connection;
class connection_pool;
class wait_line;

/// How long each phase of one exchange may take. Zero = no limit of that kind.
struct exchange_limits {
  /// Waiting for a connection: resolving the name, TCP and TLS, attempts that fail while others
  /// serve. While as many connections as allowed are at work it begins when there is room.
  duration connect{std::chrono::seconds(10)};
  /// From the last byte of the request sent to the end of the reply's head, however it drips and
  /// whatever replies of 1xx come before it.
  duration first_byte{std::chrono::seconds(60)};
  /// Without any byte moving in either direction while a body is under way.
  duration stall{std::chrono::seconds(30)};
  /// While a body is under way, fewer body bytes than `least_bytes` in any `window` are a stall,
  /// too: else one byte now and then would hold the exchange for ever. Windows follow each other
  /// from the first byte of a direction on.
  std::uint64_t least_bytes{0};
  duration window{0};
  /// The end of the whole exchange, waiting for a connection included.
  time_point deadline{never};
};

/// How an exchange ended. A reply of any status is a success here: failure is none.
struct exchange_report {
  transport_failure failure{transport_failure::none};
  /// For a person, naming host and port; empty on success.
  std::string detail{};
  /// Any byte of the request may have reached the peer.
  bool request_sent{false};
  /// An earlier copy of it may have reached the peer, on a kept connection that broke.
  bool resent{false};
  /// on_head() has been called.
  bool head_received{false};
  bool connection_reused{false};
  /// On which of transport::threads() all of it happened, from 0.
  std::uint32_t thread{0};
  /// Body bytes sent and delivered.
  std::uint64_t bytes_sent{0};
  std::uint64_t bytes_received{0};
  /// When the request was handed to a connection, and when its first reply byte came
  /// (`never` when none did).
  time_point started{never};
  time_point first_byte{never};
};

/// One request and what becomes of its reply. The owner fills it in, submits it, and leaves it
/// alone until on_done() has been called; after that it may be filled and submitted again.
/// Subclasses are recycled through ref_counted.
class exchange : public ref_counted {
 public:
  http::request request{};
  exchange_limits limits{};
  /// May be sent twice: decides whether a request lost on a stale connection is repeated silently.
  bool idempotent{true};
  /// The I/O thread that serves it; chosen by the transport when null and kept for later submits.
  scheduler* executor{nullptr};

  /// The reply's head is here; its views are valid during the call only. Gives the sink for the
  /// body, or null to discard the body; an error closes the connection and ends the exchange with
  /// transport_failure::refused and that error's message. Runs on the executor.
  virtual result<byte_sink*> on_head(const reply_head& head) = 0;
  /// So many bytes of the body were sent, and received, as they move; for totals, since a reply may
  /// take minutes. What goes in one piece with the head, and what a transport moves at once, is
  /// told by the report alone. On the executor.
  virtual void on_moved(std::size_t sent, std::size_t received) noexcept {
    static_cast<void>(sent);
    static_cast<void>(received);
  }
  /// The end, exactly once per submit, on the executor. The exchange may be submitted again here.
  virtual void on_done(exchange_report& report) noexcept = 0;

 private:
  friend class curl_transport;
  friend class connection_pool;
  friend class connection;
  friend class wait_line;
  /// Where the transport holds it: nowhere, in a line, or on a connection.
  enum class place : std::uint8_t { none, waiting, active };
  place place_{place::none};
  std::uint8_t stale_retries_{0};
  bool resent_{false};
  connection* connection_{nullptr};
  exchange* next_{nullptr};
  exchange* previous_{nullptr};
  timer_id wait_timer_{timer_id::none};
  time_point waiting_since_{never};
  time_point connect_until_{never};
};

/// Carries exchanges. The implementation is curl_transport; tests have a scripted one.
///
/// Threads: all members may be called from any thread. Destruction cancels every exchange
/// under way (on_done with transport_failure::cancelled) and joins all threads; it must not happen
/// on an executor.
class transport {
 public:
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  /// Starts an exchange. Never blocks. Cost: a lock and at most one wake-up; none of both on the
  /// exchange's own executor. After a fork, in the child, on_done comes at once with
  /// transport_failure::forked.
  virtual void submit(ref<exchange> e) = 0;
  /// Asks for an early end. on_done still comes, soon, with transport_failure::cancelled unless the
  /// exchange ended otherwise before. Nothing happens if it has ended already.
  virtual void cancel(ref<exchange> e) noexcept = 0;
  /// The executor for the next call; calls are spread over all I/O threads.
  virtual scheduler& next_executor() noexcept = 0;
  /// Whether the caller is one of the I/O threads, where nobody may wait for the transport's end.
  virtual bool is_current() const noexcept = 0;
  /// How many executors there are.
  virtual std::size_t threads() const noexcept { return 1; }
  /// Its connections now. Not in the child of a fork.
  virtual connection_snapshot look() const { return {}; }
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
