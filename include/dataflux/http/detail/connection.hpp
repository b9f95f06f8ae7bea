#pragma once

#include <dataflux/http/detail/byte_window.hpp>
#include <dataflux/http/detail/connector.hpp>
#include <dataflux/http/detail/http1.hpp>
#include <dataflux/http/detail/transport.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

class connection_pool;
struct host_pool;

/// What one connection moves before the others get their turn. One send offers as much: the kernel
/// takes what fits, and small offers cost a fifth more.
inline constexpr std::size_t turn_limit = std::size_t{4} << 20U;
/// A body that nobody wants is read to its end up to this size; beyond it a new connection is
/// cheaper.
inline constexpr std::size_t discard_limit = std::size_t{256} << 10U;

/// One connection of an I/O thread and the exchange on it. All members run on that thread.
///
/// States: connecting -> idle <-> busy -> dead. A dead one is destroyed by its thread once no event
/// of the current batch can mean it any more.
class connection {
 public:
  connection(connection_pool& owner, host_pool& pool) noexcept : owner_(owner), pool_(pool) {}
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  enum class state : std::uint8_t { connecting, idle, busy, dead };

  connection::state state() const noexcept { return state_; }
  host_pool& pool() const noexcept { return pool_; }
  http::stream& stream() noexcept { return stream_; }

  /// The stream is connected: registers it with epoll and waits for work.
  void established();
  /// False when a kept connection has been idle for too long, or brings what nobody asked for, or
  /// is closed: `next` must not be sent on it. A fresh one has had no reply that any could follow.
  bool usable(const exchange& next) noexcept {
    return !reused_ || (now() < next_limit() && (was_just_silent(next) || stream_.is_silent()));
  }
  /// Encodes and begins to send; failures are reported from the event loop, not from here.
  void begin(ref<exchange> e);
  void on_events(std::uint32_t events);
  /// Goes on with what a turn of the loop left unfinished.
  void resume();
  /// Memory was short in the midst of the exchange under way: ends both without any.
  void fail_short() noexcept;
  /// Ends the exchange under way and the connection.
  void fail(transport_failure failure, std::string detail);
  /// Closes a connection that has no exchange.
  void close() noexcept;

 private:
  friend class connection_pool;

  enum class step : std::uint8_t { again, more, ended };

  void encode();
  stream::outcome send_pieces();
  void sent(std::size_t count) noexcept;
  void begin_to_send();
  void handle(std::uint32_t events);
  void go_on();
  void send_some();
  void send_broken();
  void fail_soon();
  void resume_soon();
  void receive_some();
  step receive_head();
  step start_body();
  step receive_body();
  step receive_in_place();
  step receive_through_input();
  step take_input();
  step deliver(bytes_view bytes);
  step not_taken();
  step stop_reading();
  /// Bytes of the body.
  void count_moved(std::size_t sent, std::size_t received) noexcept {
    report_.bytes_sent += sent;
    report_.bytes_received += received;
    current_->on_moved(sent, received);
  }
  step refuse(const error& why);
  step lost(stream::status how);
  stream::outcome receive_into(bytes_span memory, bool last = false);
  bool nothing_came() const noexcept { return report_.first_byte == never; }
  void reply_complete();
  void idle_event(std::uint32_t events);
  bool was_just_silent(const exchange& next) const noexcept;
  time_point now() const noexcept;
  std::uint64_t moved() const noexcept { return report_.bytes_sent + report_.bytes_received; }
  time_point window_end() const noexcept;
  time_point head_end() const noexcept;
  time_point next_limit() const noexcept;
  void arm();
  void on_timer();
  void timed_out();
  std::string phase_text() const;

  connection_pool& owner_;
  host_pool& pool_;
  http::stream stream_{};
  enum state state_ { state::connecting };
  bool reused_{false};
  bool sending_{false};
  bool head_done_{false};
  bool spent_{false};     ///< the peer closed, or what it sends is left: not to be used again
  bool resuming_{false};  ///< in the owner's list of connections to resume
  transport_failure give_up_{transport_failure::none};  ///< what resume() ends the exchange with

  ref<exchange> current_{};
  exchange_report report_{};
  byte_sink* sink_{nullptr};
  reply_decoder decoder_{};

  std::string out_{};  ///< head, and the body with it when that is small
  std::size_t out_sent_{0};
  std::size_t part_{0};  ///< body part being sent, and how far
  std::size_t part_sent_{0};

  std::string begun_head_{};  ///< the bytes of a head that is not complete
  /// How much is received before the head is known: about the last reply's head, where that did not
  /// come by one receive.
  static constexpr std::size_t whole_input = static_cast<std::size_t>(-1);
  std::size_t usual_head_{whole_input};
  bytes_view input_{};  ///< received and not decoded yet; empty between turns

  duration keep_for_{};  ///< while idle
  time_point last_activity_{};
  byte_window window_{};
  time_point request_sent_{never};
  timer_id timer_{timer_id::none};
  time_point timer_at_{never};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
