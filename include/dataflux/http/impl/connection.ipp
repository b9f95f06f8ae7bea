#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/http/detail/connection.hpp>
#include <dataflux/http/detail/io_thread.hpp>

#include <sys/epoll.h>
#include <algorithm>
#include <array>
#include <span>
#include <utility>

/// connecting: the connector works on it. idle: it has no exchange; it is closed if the peer closes
/// it, sends what nobody asked for, or keep_for_ has passed. busy: it has one exchange. dead: it is
/// closed, and destroyed when the turn of the loop has ended.
///
/// Of an exchange: begin() encodes the head and sends what fits. sending_ lasts until the last byte
/// was taken. The reply may begin before that. receive_head() reads until the decoder has a head
/// (little more than that where the last reply was long, so that its body needs no copy), on_head()
/// gives the sink, and receive_body() fills it. One turn moves turn_limit bytes at most; then
/// resume() goes on in the next turn.
///
/// reply_complete() ends an exchange well: the connection is idle again if both sides agree and no
/// byte is left over, and else it is closed. fail() ends it otherwise, and closes. A kept
/// connection that turns out to be dead before a byte came hands its exchange back to the pool
/// (retry_fresh). give_up_ keeps a failure until the event loop tells it, since begin() must not
/// end an exchange.
namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// The pieces of the body that fit into this behind the head are copied there, to be sent with it:
/// small ones, or all of a small body where the stream does not gather.
inline constexpr std::size_t gathered_limit = std::size_t{2} << 10U;
inline constexpr std::size_t joined_limit = std::size_t{24} << 10U;

DATAFLUX_INLINE time_point connection::now() const noexcept { return owner_.loop_.now(); }

DATAFLUX_INLINE void connection::established() {
  state_ = state::idle;
  last_activity_ = now();
  keep_for_ = owner_.options_.idle_timeout;
}

DATAFLUX_INLINE void connection::begin(ref<exchange> e) {
  state_ = state::busy;
  current_ = std::move(e);
  current_->place_ = exchange::place::active;
  current_->connection_ = this;
  report_ = {};
  report_.resent = current_->resent_;
  report_.connection_reused = reused_;
  report_.thread = owner_.thread_;
  report_.started = last_activity_ = now();
  window_.open(report_.started, 0);
  sink_ = nullptr;
  head_done_ = false;
  give_up_ = transport_failure::none;
  request_sent_ = never;
  begun_head_.clear();
  input_ = {};
  out_.clear();
  out_sent_ = part_ = part_sent_ = 0;
  decoder_.start(current_->request.method);
  sending_ = true;
  detail::within_memory([this] { begin_to_send(); },
                        [this] {
                          give_up_ = transport_failure::memory;
                          fail_soon();
                        });
}

DATAFLUX_INLINE void connection::begin_to_send() {
  encode();
  if (sending_) send_some();
  arm();
}

DATAFLUX_INLINE void connection::encode() {
  const auto& body = current_->request.body;
  if (auto encoded = encode_request_head(current_->request, out_); !encoded) {
    give_up_ = transport_failure::refused;
    report_.detail = encoded.error().message();
    return fail_soon();
  }
  const std::size_t limit = stream_.gathers() ? gathered_limit : joined_limit;
  for (const bytes_view part : body.parts()) {
    if (out_.size() + part.size() > limit) return;
    out_.append(as_text(part));
    ++part_;
  }
}

/// Offers what is left of the request, a turn's worth at most.
DATAFLUX_INLINE stream::outcome connection::send_pieces() {
  const auto parts = current_->request.body.parts().subspan(part_);
  std::array<bytes_view, 1 + request_body::max_parts> pieces;
  static_assert(pieces.size() <= socket_end::most_pieces);
  std::size_t count = 0;
  std::size_t room = turn_limit;
  const auto offer = [&](bytes_view rest) {
    if (rest.empty() || room == 0) return;
    pieces[count] = rest.first(std::min(rest.size(), room));
    room -= pieces[count++].size();
  };
  offer(as_bytes(out_).subspan(out_sent_));
  for (std::size_t k = 0; k < parts.size(); ++k) {
    offer(k == 0 ? parts[k].subspan(part_sent_) : parts[k]);
  }
  return stream_.send(std::span<const bytes_view>(pieces).first(count));
}

DATAFLUX_INLINE void connection::sent(std::size_t count) noexcept {
  const std::size_t of_head = std::min(count, out_.size() - out_sent_);
  out_sent_ += of_head;
  count -= of_head;
  if (count == 0) return;
  count_moved(count, 0);
  const auto parts = current_->request.body.parts();
  part_sent_ += count;
  while (part_ < parts.size() && part_sent_ >= parts[part_].size()) {
    part_sent_ -= parts[part_++].size();
  }
}

DATAFLUX_INLINE void connection::send_some() {
  std::size_t turn = 0;
  while (sending_) {
    if (turn >= turn_limit) return resume_soon();
    if (out_sent_ == out_.size() && part_ == current_->request.body.parts().size()) {
      sending_ = false;
      report_.bytes_sent = current_->request.body.size();
      request_sent_ = now();
      return;
    }
    const auto moved = send_pieces();
    if (moved.status == stream::status::again) return;
    if (moved.status != stream::status::ok) return send_broken();
    report_.request_sent = true;
    last_activity_ = now();
    turn += moved.count;
    sent(moved.count);
  }
}

/// The peer may have answered (413, 401) and closed before it read everything: expect a reply
/// before giving up. From the event loop, since begin() must not end an exchange.
DATAFLUX_INLINE void connection::send_broken() {
  give_up_ = transport_failure::reset;
  report_.detail = stream_.last_failure() + " " + phase_text();
  fail_soon();
}

DATAFLUX_INLINE void connection::fail_soon() {
  sending_ = false;
  request_sent_ = now();
  resume_soon();
}

DATAFLUX_INLINE void connection::resume_soon() {
  if (!std::exchange(resuming_, true)) owner_.resume_.push_back(this);
}

DATAFLUX_INLINE void connection::on_events(std::uint32_t events) {
  detail::within_memory([&] { handle(events); }, [this] { fail_short(); });
}

DATAFLUX_INLINE void connection::handle(std::uint32_t events) {
  if (state_ == state::idle) return idle_event(events);
  if (state_ != state::busy) return;
  last_activity_ = now();
  const bool ended = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  spent_ = spent_ || ended;
  if (ended || (events & EPOLLIN) != 0) stream_.stirred(ended);
  if (sending_ && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) {
    send_some();
    arm();
  }
  if (ended || (events & EPOLLIN) != 0) receive_some();
}

DATAFLUX_INLINE void connection::resume() {
  resuming_ = false;
  detail::within_memory([this] { go_on(); }, [this] { fail_short(); });
}

DATAFLUX_INLINE void connection::go_on() {
  if (state_ != state::busy) return;
  if (sending_) {
    send_some();
    arm();
  }
  if (give_up_ != transport_failure::none) stream_.stirred();
  const bool sent = give_up_ != transport_failure::refused && give_up_ != transport_failure::memory;
  if (sent) receive_some();
  if (state_ == state::busy && give_up_ != transport_failure::none) {
    fail(give_up_, std::move(report_.detail));
  }
}

DATAFLUX_INLINE void connection::idle_event(std::uint32_t events) {
  if ((events & ~std::uint32_t{EPOLLOUT}) == 0) return;
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) == 0 && stream_.is_silent()) return;
  close();
}

/// Bytes behind a reply must not become the next one's. Those that came with it are known without
/// another call, for a reply that has ended in this turn: a receive that did not fill its memory
/// left none. What comes later cannot be told by asking either, which only looks a little later,
/// and the request is then on its way. But where the peer's end may lie since, who must not be sent
/// twice is worth a call. Of earlier turns an event may wait that is not handled yet.
DATAFLUX_INLINE bool connection::was_just_silent(const exchange& next) const noexcept {
  return next.idempotent && last_activity_ == now() && stream_.drained();
}

DATAFLUX_INLINE std::string connection::phase_text() const {
  if (head_done_) return "in the body of the reply";
  if (!nothing_came()) return "in the head of the reply";
  return sending_ ? "while the request was sent" : "before the first byte of the reply";
}

DATAFLUX_INLINE void connection::reply_complete() {
  // Bytes behind the reply, or a request that was not sent to its end: nobody knows what the next
  // bytes mean.
  const bool all_sent =
      !sending_ && out_sent_ == out_.size() && part_ == current_->request.body.parts().size();
  const bool clean = all_sent && input_.empty() && !spent_;
  ref<exchange> e = std::move(current_);
  exchange_report report = std::move(report_);
  if (clean && decoder_.keep_alive()) {
    reused_ = true;
    state_ = state::idle;
    last_activity_ = now();
    e->connection_ = nullptr;
    detail::within_memory([this] { owner_.released(*this); },
                          [this] {
                            if (state_ == state::idle) close();
                          });
  } else {
    close();
  }
  owner_.end_exchange(std::move(e), std::move(report));
}

DATAFLUX_INLINE void connection::fail(transport_failure failure, std::string detail) {
  if (state_ != state::busy) return;
  std::string whole = std::move(detail) + " (" + pool_.to->to_string() + ")";
  ref<exchange> e = std::move(current_);
  exchange_report report = std::move(report_);
  const bool stale = failure == transport_failure::reset && reused_ && report.first_byte == never &&
                     (e->idempotent || !report.request_sent);
  report.failure = failure;
  report.detail = std::move(whole);
  close();
  if (stale && e->stale_retries_ < 3) {
    ++e->stale_retries_;
    e->resent_ = e->resent_ || report.request_sent;
    owner_.retry_fresh(std::move(e));
    return;
  }
  owner_.end_exchange(std::move(e), std::move(report));
}

DATAFLUX_INLINE void connection::fail_short() noexcept {
  if (state_ == state::idle) return close();
  if (state_ != state::busy) return;
  ref<exchange> e = std::move(current_);
  exchange_report report = std::move(report_);
  report.failure = transport_failure::memory;
  report.detail.clear();
  close();
  owner_.end_exchange(std::move(e), std::move(report));
}

DATAFLUX_INLINE void connection::close() noexcept {
  if (state_ == state::dead) return;
  owner_.closed(*this);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
