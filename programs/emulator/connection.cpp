#include <emulator/connection.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace emulator {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t read_step = std::size_t{16} << 10;
constexpr std::uint32_t head_limit = 64U << 10;
/// Above the service's largest part, 5 GiB (protocol.md 2).
constexpr std::uint64_t most_body = (std::uint64_t{5} << 30) + (std::uint64_t{1} << 20);
/// What is moved at once on a narrow network.
constexpr std::size_t narrow_step = std::size_t{16} << 10;
/// How long a closing connection waits for the peer.
constexpr std::chrono::seconds farewell{2};

}  // namespace

template <typename Then>
void connection::wait(std::chrono::nanoseconds duration, Then then) {
  timer_.expires_after(duration);
  timer_.async_wait([self = shared_from_this(), then](error_code failed) {
    if (!failed) then(*self);
  });
}

// ---- reading a request ----

void connection::read_head() {
  reading_ = reading::head;
  parser_.emplace();
  parser_->header_limit(head_limit);
  parser_->body_limit(most_body);
  request_ = {};
  early_.reset();
  body_.reset();
  if (in_.size() > 0) {
    parse_head();
  } else {
    read_more();
  }
}

/// On a narrow network, how long to move no more after those bytes.
std::chrono::nanoseconds connection::pause_after(std::uint64_t bytes) {
  if (!service_.network().narrow()) return std::chrono::nanoseconds{0};
  const auto now = std::chrono::steady_clock::now();
  return std::max(pace_.after(bytes, now), service_.shared_pace().after(bytes, now));
}

void connection::read_more() {
  if (debt_.count() == 0) return read_now();
  const auto pause = std::exchange(debt_, std::chrono::nanoseconds{0});
  wait(pause, [](connection& self) { self.read_now(); });
}

void connection::read_now() {
  if (reading_ == reading::body) {
    auto most = static_cast<std::size_t>(body_goal_ - body_have_);
    if (service_.network().narrow()) most = std::min(most, narrow_step);
    read_some(net::buffer(body_.get() + body_have_, most));
  } else {
    read_some(in_.prepare(read_step));
  }
}

void connection::on_read(error_code failed, std::size_t n) {
  if (failed) {
    if (reading_ == reading::body) {
      service_.broken(request_, content{std::move(body_), body_have_});
    }
    if (reading_ == reading::drain && secure_) {
      say_farewell();
    } else {
      close();
    }
    return;
  }
  if (reading_ == reading::body || reading_ == reading::chunks) debt_ = pause_after(n);
  switch (reading_) {
    case reading::head:
      in_.commit(n);
      parse_head();
      break;
    case reading::body:
      body_have_ += n;
      on_body_bytes();
      break;
    case reading::chunks:
      in_.commit(n);
      parse_chunks();
      break;
    case reading::until_peer_leaves:
    case reading::drain:
      read_more();
      break;  // uncommitted, hence thrown away
  }
}

void connection::parse_head() {
  error_code failed;
  const std::size_t used = parser_->put(in_.data(), failed);
  in_.consume(used);
  if (failed == http::error::need_more) return read_more();
  if (failed == http::error::body_limit) {
    return refuse({413, "uploadTooLarge", "EntityTooLarge", "Too large"});
  }
  if (failed) {
    return refuse(invalid_argument("Bad request: " + failed.message()));
  }
  on_head();
}

void connection::on_head() {
  const auto& message = parser_->get();
  const auto view = [](boost::beast::string_view text) {
    return std::string_view{text.data(), text.size()};
  };
  request_.method = view(message.method_string());
  request_.target = view(message.target());
  request_.secure = secure_;
  request_.client_certificate = client_certificate_;
  for (const auto& field : message) {
    request_.headers.push_back({view(field.name_string()), view(field.value())});
  }
  keep_alive_ = message.keep_alive();
  body_size_ = parser_->chunked() ? 0 : parser_->content_length().value_or(0);
  body_have_ = 0;
  unread_body_ = parser_->chunked() || body_size_ > 0;
  early_ = service_.early(request_);
  body_goal_ = early_ ? std::min(early_->request_bytes, body_size_) : body_size_;
  if (early_ && early_->request_bytes == 0) return execute();
  const bool ask = same_name(request_.header("Expect"), "100-continue");
  if (ask && unread_body_ && in_.size() == 0) {
    continuing_ = true;
    pending_ = {};
    pending_[0] = net::buffer("HTTP/1.1 100 Continue\r\n\r\n", 25);
    return write_some(pending_);
  }
  begin_body();
}

void connection::begin_body() {
  if (parser_->chunked()) {
    reading_ = reading::chunks;
    return parse_chunks();
  }
  if (body_size_ > 0) {
    reading_ = reading::body;
    body_ = allocate_buffer(static_cast<std::size_t>(body_size_));
    const auto here = std::min<std::uint64_t>(in_.size(), body_goal_);
    std::memcpy(body_.get(), in_.data().data(), static_cast<std::size_t>(here));
    in_.consume(static_cast<std::size_t>(here));
    body_have_ = here;
  }
  on_body_bytes();
}

void connection::on_body_bytes() {
  if (body_have_ < body_goal_) return read_more();
  unread_body_ = body_have_ < body_size_;
  if (early_) {
    service_.broken(request_, content{std::move(body_), body_have_});
  } else {
    request_.body = content{std::move(body_), body_size_};
  }
  execute();
}

void connection::parse_chunks() {
  // Every put is given all that is there and stops when it wants more or the message is whole.
  while (!parser_->is_done()) {
    error_code failed;
    const std::size_t used = parser_->put(in_.data(), failed);
    in_.consume(used);
    if (failed == http::error::need_more || (!failed && used == 0)) return read_more();
    if (failed) return close();
  }
  unread_body_ = false;
  request_.body = content{std::move(parser_->get().body())};
  execute();
}

// ---- sending a reply ----

void connection::execute() {
  exchange what = early_ ? std::move(early_->what) : service_.handle(request_);
  const network_options& network = service_.network();
  auto delay = what.wire.delay + network.round_trip;
  // Connecting took a round trip too, which a socket on this machine did not.
  if (std::exchange(first_reply_, false)) delay += network.round_trip;
  if (network.narrow() && what.wire.drip_bytes == 0) what.wire.drip_bytes = narrow_step;
  if (unread_body_) keep_alive_ = false;
  writer_.start(std::move(what), keep_alive_);
  if (delay.count() > 0) {
    wait(delay, [](connection& self) { self.send_more(); });
  } else {
    send_more();
  }
}

/// Answers without asking the service, and ends the connection.
void connection::refuse(const service_error& why) {
  keep_alive_ = false;
  writer_.start({.reply = render(why, error_form::text), .wire = {}}, false);
  send_more();
}

void connection::send_more() {
  switch (writer_.next()) {
    case reply_writer::step::write:
      std::ranges::transform(writer_.buffers(), pending_.begin(), [](auto b) {
        return net::const_buffer{b.data(), b.size()};
      });
      service_.seen().add_reply_bytes(writer_.body_bytes());
      write_some(pending_);
      break;
    case reply_writer::step::limit:
      at_limit();
      break;
    case reply_writer::step::finished:
      finish_reply();
      break;
    case reply_writer::step::unreadable:
      reset();
      break;
  }
}

void connection::on_written(error_code failed, std::size_t n) {
  if (failed) return close();
  for (net::const_buffer& b : pending_) {
    const std::size_t taken = std::min(n, b.size());
    b += taken;
    n -= taken;
    if (b.size() > 0) return write_some(pending_);
  }
  if (continuing_) {
    continuing_ = false;
    return begin_body();
  }
  std::chrono::nanoseconds pause = pause_after(writer_.body_bytes());
  if (writer_.dripping()) {
    pause = std::max<std::chrono::nanoseconds>(pause, writer_.wire().drip_interval);
  }
  if (pause.count() > 0) {
    wait(pause, [](connection& self) { self.send_more(); });
  } else {
    send_more();
  }
}

void connection::at_limit() {
  const wire_script& wire = writer_.wire();
  if (wire.stall && wire.stall->count() == 0) {
    reading_ = reading::until_peer_leaves;
    return read_more();
  }
  if (wire.stall) {
    return wait(*wire.stall, [](connection& self) {
      self.writer_.lift_limits();
      self.send_more();
    });
  }
  switch (wire.at_limit) {
    case wire_script::ending::keep:
      finish_reply();
      break;
    case wire_script::ending::close:
      end();
      break;
    case wire_script::ending::reset:
      reset();
      break;
  }
}

void connection::finish_reply() {
  if (keep_alive_) {
    read_head();
  } else {
    end();
  }
}

// ---- ending a connection ----

/// Ends in order. What the peer still sends is read and thrown away first, or closing would turn
/// into a reset that may overtake the reply.
void connection::end() {
  wait(farewell, [](connection& self) { self.close(); });
  if (secure_ && unread_body_) {
    reading_ = reading::drain;
    read_more();
  } else {
    say_farewell();
  }
}

void connection::on_farewell() {
  if (secure_) return close();
  reading_ = reading::drain;
  read_more();
}

void connection::reset() {
  error_code ignored;
  socket().set_option(net::socket_base::linger(true, 0), ignored);
  close();
}

void connection::close() {
  error_code ignored;
  timer_.cancel();
  socket().close(ignored);
}

}  // namespace emulator
