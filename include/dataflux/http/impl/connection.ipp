#pragma once

#include <dataflux/byte_range.hpp>
#include <dataflux/http/detail/io_thread.hpp>

#include <sys/epoll.h>
#include <algorithm>
#include <cstring>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::http::detail {

/// The head and the pieces of the body that fit into this behind it are sent in one call.
inline constexpr std::size_t joined_limit = std::size_t{24} << 10U;
/// What one receive moves at most: small enough that a checksum finds it in the cache.
inline constexpr std::size_t receive_piece = std::size_t{256} << 10U;
/// What one connection moves before the others get their turn. One send offers as much: the kernel
/// takes what fits, and small offers cost a fifth more.
inline constexpr std::size_t turn_limit = std::size_t{4} << 20U;

DATAFLUX_INLINE time_point connection::now() const noexcept { return owner_.loop_.now(); }

DATAFLUX_INLINE void connection::established() {
  state_ = state::idle;
  last_activity_ = now();
}

DATAFLUX_INLINE void connection::begin(ref<exchange> e) {
  state_ = state::busy;
  current_ = std::move(e);
  current_->place_ = exchange::place::active;
  current_->connection_ = this;
  report_ = {};
  report_.resent = current_->resent_;
  report_.connection_reused = reused_;
  report_.started = last_activity_ = now();
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
  for (const bytes_view part : body.parts()) {
    if (out_.size() + part.size() > joined_limit) return;
    out_.append(as_text(part));
    ++part_;
  }
}

DATAFLUX_INLINE void connection::send_some() {
  const auto parts = current_->request.body.parts();
  std::size_t turn = 0;
  while (sending_) {
    if (turn >= turn_limit) return resume_soon();
    const bool in_head = out_sent_ < out_.size();
    if (!in_head && part_ == parts.size()) {
      sending_ = false;
      report_.bytes_sent = current_->request.body.size();
      request_sent_ = now();
      return;
    }
    const bytes_view rest =
        in_head ? as_bytes(out_).subspan(out_sent_) : parts[part_].subspan(part_sent_);
    const auto sent = stream_.send(rest.first(std::min(rest.size(), turn_limit)));
    if (sent.status == stream::status::again) return;
    if (sent.status != stream::status::ok) return send_broken();
    report_.request_sent = true;
    last_activity_ = now();
    if (in_head) {
      out_sent_ += sent.count;
      continue;
    }
    moved(sent.count, 0);
    part_sent_ += sent.count;
    turn += sent.count;
    if (part_sent_ == parts[part_].size()) {
      ++part_;
      part_sent_ = 0;
    }
  }
}

/// The peer may have answered (413, 401) and closed before it read everything: look for a reply
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
  if (state_ == state::idle) return idle_event(events);
  if (state_ != state::busy) return;
  last_activity_ = now();
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) peer_done_ = true;
  if (sending_ && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) {
    send_some();
    arm();
  }
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) receive_some();
}

DATAFLUX_INLINE void connection::resume() {
  resuming_ = false;
  if (state_ != state::busy) return;
  if (sending_) {
    send_some();
    arm();
  }
  if (give_up_ != transport_failure::refused) receive_some();
  if (state_ == state::busy && give_up_ != transport_failure::none) {
    fail(give_up_, std::move(report_.detail));
  }
}

/// Anything but a TLS ticket means that the connection is of no more use.
DATAFLUX_INLINE void connection::idle_event(std::uint32_t events) {
  if ((events & ~std::uint32_t{EPOLLOUT}) == 0) return;
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) == 0) {
    std::byte probe[1];
    if (stream_.receive(probe).status == stream::status::again) return;
  }
  close();
}

DATAFLUX_INLINE void connection::receive_some() {
  step next = step::more;
  const std::uint64_t turn_end = report_.bytes_received + turn_limit;
  while (next == step::more) {
    next = head_done_ ? receive_body() : receive_head();
    if (next == step::more && report_.bytes_received >= turn_end) {
      return resume_soon();
    }
  }
  if (next == step::again) arm();
}

DATAFLUX_INLINE stream::outcome connection::receive_into(bytes_span memory) {
  const auto got = stream_.receive(memory);
  if (got.status == stream::status::ok && report_.first_byte == never) {
    report_.first_byte = now();
  }
  return got;
}

DATAFLUX_INLINE connection::step connection::receive_head() {
  const bytes_span memory = owner_.input();
  const auto got = receive_into(memory);
  if (got.status == stream::status::again) return step::again;
  if (got.status != stream::status::ok) return lost(got.status);
  input_ = memory.first(got.count);
  // Nearly always the head comes in one piece; else it is put together apart.
  std::string_view received = as_text(input_);
  const std::size_t before = begun_head_.size();
  if (before > 0) received = begun_head_.append(received);
  const auto consumed = decoder_.parse_head(received);
  if (!consumed) {
    const bool http = reused_ || received.starts_with("HTTP/");
    fail(http ? transport_failure::protocol : transport_failure::wrong_protocol,
         http ? consumed.error().message() : describe_stranger(received));
    return step::ended;
  }
  if (*consumed == 0) {
    if (before == 0) begun_head_.assign(received);
    return step::more;
  }
  input_ = input_.subspan(*consumed - before);
  return start_body();
}

DATAFLUX_INLINE connection::step connection::start_body() {
  head_done_ = true;
  report_.head_received = true;
  auto sink = current_->on_head(decoder_.head());
  if (!sink) return refuse(sink.error());
  sink_ = *sink;
  if (sink_ != nullptr) {
    const bool known = decoder_.framing() != body_framing::chunked &&
                       decoder_.framing() != body_framing::until_close;
    const auto expected = sink_->expect(known ? decoder_.remaining() : byte_range::to_end);
    if (!expected) return refuse(expected.error());
  }
  return decoder_.complete() ? (reply_complete(), step::ended) : take_input();
}

/// What came in one piece with the head, or with the framing of a chunk.
DATAFLUX_INLINE connection::step connection::take_input() {
  while (!input_.empty() && !decoder_.complete()) {
    bytes_view data = input_;
    std::size_t consumed = 0;
    if (decoder_.framing() == body_framing::chunked) {
      const auto decoded = decoder_.decode_chunked(input_);
      if (!decoded) {
        fail(transport_failure::protocol, decoded.error().message());
        return step::ended;
      }
      consumed = decoded->consumed;
      data = decoded->data;
    } else {
      if (decoder_.framing() == body_framing::length) {
        data = input_.first(std::min<std::uint64_t>(input_.size(), decoder_.remaining()));
      }
      consumed = data.size();
      decoder_.body_received(consumed);
    }
    input_ = input_.subspan(consumed);
    if (!data.empty() && deliver(data) == step::ended) return step::ended;
  }
  if (!decoder_.complete()) return step::more;
  reply_complete();
  return step::ended;
}

DATAFLUX_INLINE connection::step connection::receive_body() {
  const bool payload_next =
      decoder_.framing() == body_framing::until_close || decoder_.remaining() > 0;
  return sink_ != nullptr && payload_next ? receive_in_place() : receive_through_input();
}

/// Straight into the sink's memory: the bytes to come are nothing but payload.
DATAFLUX_INLINE connection::step connection::receive_in_place() {
  const std::uint64_t most =
      decoder_.framing() == body_framing::until_close ? receive_piece : decoder_.remaining();
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(most, receive_piece));
  const bytes_span memory = sink_->prepare(wanted);
  if (memory.empty()) return refuse(error(errc::out_of_range, "the reply is longer than its sink"));
  const auto got = receive_into(memory.first(std::min(memory.size(), wanted)));
  if (got.status == stream::status::again) return step::again;
  if (got.status != stream::status::ok) return lost(got.status);
  moved(0, got.count);
  decoder_.body_received(got.count);
  if (auto committed = sink_->commit(got.count); !committed) return refuse(committed.error());
  if (!decoder_.complete()) return step::more;
  // The memory was filled to its end, so that more may have come: a reply nobody asked for, or a
  // close whose event this was.
  std::byte probe[1];
  if (stream_.receive(probe).status != stream::status::again) peer_done_ = true;
  reply_complete();
  return step::ended;
}

/// By way of the shared memory: framing of chunks, or a body that nobody wants.
DATAFLUX_INLINE connection::step connection::receive_through_input() {
  const bytes_span memory = owner_.input();
  const auto got = receive_into(memory);
  if (got.status == stream::status::again) return step::again;
  if (got.status != stream::status::ok) return lost(got.status);
  input_ = memory.first(got.count);
  return take_input();
}

DATAFLUX_INLINE connection::step connection::deliver(bytes_view bytes) {
  moved(0, bytes.size());
  if (sink_ == nullptr) return step::more;
  while (!bytes.empty()) {
    const bytes_span memory = sink_->prepare(bytes.size());
    if (memory.empty()) {
      return refuse(error(errc::out_of_range, "the reply is longer than its sink"));
    }
    const std::size_t count = std::min(memory.size(), bytes.size());
    std::memcpy(memory.data(), bytes.data(), count);
    if (auto committed = sink_->commit(count); !committed) return refuse(committed.error());
    bytes = bytes.subspan(count);
  }
  return step::more;
}

DATAFLUX_INLINE connection::step connection::refuse(const error& why) {
  fail(transport_failure::refused, why.message());
  return step::ended;
}

/// The stream ended before the reply did, unless the reply lasts until then.
DATAFLUX_INLINE connection::step connection::lost(stream::status how) {
  if (how == stream::status::closed) {
    if (auto end = decoder_.closed(); end) {
      reply_complete();
    } else if (nothing_came() && reused_) {
      fail(transport_failure::reset, "the server closed the kept connection");
    } else {
      fail(transport_failure::closed_early, end.error().message());
    }
    return step::ended;
  }
  fail(transport_failure::reset, stream_.last_failure() + " " + phase_text());
  return step::ended;
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
  const bool clean = all_sent && input_.empty() && !peer_done_;
  ref<exchange> e = std::move(current_);
  exchange_report report = std::move(report_);
  if (clean && decoder_.keep_alive()) {
    reused_ = true;
    state_ = state::idle;
    last_activity_ = now();
    e->connection_ = nullptr;
    owner_.released(*this);
  } else {
    close();
  }
  owner_.end_exchange(std::move(e), std::move(report));
}

DATAFLUX_INLINE void connection::fail(transport_failure failure, std::string detail) {
  if (state_ != state::busy) return;
  ref<exchange> e = std::move(current_);
  exchange_report report = std::move(report_);
  const bool stale = failure == transport_failure::reset && reused_ && report.first_byte == never &&
                     (e->idempotent || !report.request_sent);
  report.failure = failure;
  report.detail = std::move(detail) + " (" + pool_.to->to_string() + ")";
  close();
  if (stale && e->stale_retries_ < 3) {
    ++e->stale_retries_;
    e->resent_ = e->resent_ || report.request_sent;
    owner_.retry_fresh(std::move(e));
    return;
  }
  owner_.end_exchange(std::move(e), std::move(report));
}

DATAFLUX_INLINE void connection::close() {
  if (state_ == state::dead) return;
  owner_.closed(*this);
}

DATAFLUX_INLINE time_point connection::next_limit() const noexcept {
  if (state_ == state::idle) return deadline_after(last_activity_, owner_.options_.idle_timeout);
  if (state_ != state::busy) return never;
  const exchange_limits& limits = current_->limits;
  const bool waiting = !sending_ && report_.first_byte == never;
  const duration allowed = waiting ? limits.first_byte : limits.stall;
  const time_point phase_end =
      allowed == duration::zero()
          ? never
          : deadline_after(waiting ? request_sent_ : last_activity_, allowed);
  return std::min(phase_end, limits.deadline);
}

/// Timers are lazy: one that fires too early looks again, so that a steady stream of exchanges
/// hardly ever touches the queue.
DATAFLUX_INLINE void connection::arm() {
  const time_point limit = next_limit();
  if (limit >= timer_at_) return;
  if (timer_ != timer_id::none) owner_.loop_.cancel(timer_);
  timer_at_ = limit;
  timer_ = owner_.loop_.at(limit, [this] { on_timer(); });
}

DATAFLUX_INLINE void connection::on_timer() {
  timer_ = timer_id::none;
  timer_at_ = never;
  if (next_limit() > now()) return arm();
  if (state_ == state::idle) return close();
  if (current_->limits.deadline <= now()) {
    return fail(transport_failure::deadline, "the deadline passed " + phase_text());
  }
  const bool waiting = !sending_ && report_.first_byte == never;
  fail(waiting ? transport_failure::timeout_first_byte : transport_failure::stalled,
       "no byte moved within the time allowed " + phase_text());
}

}  // namespace dataflux::inline DATAFLUX_ABI::http::detail
