#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/http/detail/io_thread.hpp>

#include <algorithm>
#include <cstring>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// What one receive moves at most: small enough that a checksum finds it in the cache.
inline constexpr std::size_t receive_piece = std::size_t{256} << 10U;
/// What one receive brings at most over TLS: a record.
inline constexpr std::size_t tls_record = std::size_t{16} << 10U;
/// Heads of a kind differ by less. What of it the head leaves goes through the shared memory.
inline constexpr std::size_t head_slack = 128;

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

DATAFLUX_INLINE stream::outcome connection::receive_into(bytes_span memory, bool last) {
  const auto got = stream_.receive(memory, last);
  if (got.status == stream::status::ok && report_.first_byte == never) {
    report_.first_byte = now();
    window_.open(report_.first_byte, moved());
  }
  return got;
}

DATAFLUX_INLINE connection::step connection::receive_head() {
  const bytes_span memory = owner_.input();
  const std::size_t room = begun_head_.empty() ? usual_head_ : whole_input;
  const auto got = receive_into(memory.first(std::min(memory.size(), room)));
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
  // What does not come by one receive anyway goes straight to where it belongs, but for the head.
  const std::size_t at_once = pool_.to->tls ? tls_record : memory.size();
  const bool apart =
      decoder_.framing() == body_framing::length && *consumed + decoder_.remaining() > at_once;
  usual_head_ = apart ? *consumed + head_slack : whole_input;
  return start_body();
}

/// Not to the last moment: a request must not cross the server's close.
inline duration keep_time(const reply_head& head, duration most) {
  const auto said = keep_alive_timeout(head);
  if (!said) return most;
  const duration whole = *said;
  return std::min(most, whole - std::min<duration>(whole / 2, std::chrono::seconds(1)));
}

DATAFLUX_INLINE connection::step connection::start_body() {
  head_done_ = true;
  report_.head_received = true;
  keep_for_ = keep_time(decoder_.head(), owner_.options_.idle_timeout);
  auto sink = current_->on_head(decoder_.head());
  if (!sink) return refuse(sink.error());
  sink_ = *sink;
  if (sink_ != nullptr) {
    const bool known = decoder_.framing() != body_framing::chunked &&
                       decoder_.framing() != body_framing::until_close;
    const auto expected = sink_->expect(known ? decoder_.remaining() : byte_range::to_end);
    if (!expected) return refuse(expected.error());
  } else if (decoder_.remaining() > discard_limit) {
    return stop_reading();
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
  if (memory.empty()) return not_taken();
  const std::size_t room = std::min(memory.size(), wanted);
  const auto got = receive_into(memory.first(room), decoder_.framing() == body_framing::length &&
                                                        room == decoder_.remaining());
  if (got.status == stream::status::again) return step::again;
  if (got.status != stream::status::ok) return lost(got.status);
  spent_ = spent_ || got.surplus;
  count_moved(0, got.count);
  decoder_.body_received(got.count);
  if (auto committed = sink_->commit(got.count); !committed) return refuse(committed.error());
  if (!decoder_.complete()) return step::more;
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
  count_moved(0, bytes.size());
  if (sink_ == nullptr) {
    return report_.bytes_received > discard_limit ? stop_reading() : step::more;
  }
  while (!bytes.empty()) {
    const bytes_span memory = sink_->prepare(bytes.size());
    if (memory.empty()) return not_taken();
    const std::size_t count = std::min(memory.size(), bytes.size());
    std::memcpy(memory.data(), bytes.data(), count);
    if (auto committed = sink_->commit(count); !committed) return refuse(committed.error());
    bytes = bytes.subspan(count);
  }
  return step::more;
}

/// The sink gave no memory.
DATAFLUX_INLINE connection::step connection::not_taken() {
  if (sink_->satisfied()) return stop_reading();
  return refuse(error(errc::out_of_range, "the reply is longer than its sink"));
}

/// The rest of the body is left where it is, and the connection with it.
DATAFLUX_INLINE connection::step connection::stop_reading() {
  spent_ = true;
  reply_complete();
  return step::ended;
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

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
