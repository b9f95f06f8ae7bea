#include <emulator/listener.hpp>

#include <signal.h>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace emulator {
namespace {

namespace net = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using net::ip::tcp;
using executor = net::io_context::executor_type;
using socket_type = net::basic_stream_socket<tcp, executor>;
using acceptor_type = net::basic_socket_acceptor<tcp, executor>;
using timer_type = net::basic_waitable_timer<std::chrono::steady_clock,
                                             net::wait_traits<std::chrono::steady_clock>, executor>;
using buffers = std::array<net::const_buffer, 4>;

constexpr std::size_t read_step = std::size_t{16} << 10;
constexpr std::size_t write_step = std::size_t{1} << 20;
constexpr std::uint32_t head_limit = 64U << 10;
/// Above the service's largest part, 5 GiB (protocol.md 2).
constexpr std::uint64_t most_body = (std::uint64_t{5} << 30) + (std::uint64_t{1} << 20);
/// How long a closing connection waits for the peer.
constexpr std::chrono::seconds farewell{2};

/// One connection, from accept to close. Strictly one step after the other, all on the one thread
/// of its io_context, so nothing here is locked. Whatever is outstanding holds a shared_ptr to it.
class connection : public std::enable_shared_from_this<connection> {
 public:
  connection(service& behind, const executor& on, bool secure)
      : service_(behind), timer_(on), secure_(secure) {
    service_.seen().connection_opened();
  }
  virtual ~connection() { service_.seen().connection_closed(); }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  virtual void start() = 0;

 protected:
  virtual socket_type& socket() = 0;
  virtual void read_some(net::mutable_buffer into) = 0;  ///< then on_read
  virtual void write_some(const buffers& from) = 0;      ///< then on_written
  virtual void say_farewell() = 0;  ///< tells the peer that no more comes, then on_farewell

  void read_head();
  void on_read(error_code failed, std::size_t n);
  void on_written(error_code failed, std::size_t n);
  void on_farewell();

 private:
  enum class reading { head, body, chunks, until_peer_leaves, drain };

  void read_more();
  void parse_head();
  void on_head();
  void begin_body();
  void after_continue();
  void on_body_bytes();
  void parse_chunks();
  void execute();
  void begin_reply();
  void make_head();
  void send_more();
  void frame_chunk(std::span<const std::byte> data);
  void write_rest();
  void at_limit();
  void finish_reply();
  void end();
  void reset();
  void close();
  template <typename Then>
  void wait(std::chrono::milliseconds duration, Then then);

  service& service_;
  timer_type timer_;
  const bool secure_;

  boost::beast::flat_buffer in_{};
  std::optional<http::request_parser<http::string_body>> parser_{};
  http_request request_{};
  reading reading_{reading::head};
  std::optional<service::early_exchange> early_{};
  std::shared_ptr<std::byte> body_{};
  std::uint64_t body_size_{0};  ///< by Content-Length
  std::uint64_t body_have_{0};
  std::uint64_t body_goal_{0};  ///< where to stop reading: all, or where a fault acts
  bool keep_alive_{true};
  bool unread_body_{false};
  bool continuing_{false};  ///< "100 Continue" is being written

  exchange out_{};
  std::string head_{};
  std::uint64_t head_sent_{0};
  std::uint64_t body_sent_{0};
  bool has_body_{false};
  bool last_chunk_due_{false};
  std::string chunk_head_{};
  std::vector<std::byte> scratch_{};
  buffers pending_{};
};

template <typename Then>
void connection::wait(std::chrono::milliseconds duration, Then then) {
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
  out_ = {};
  if (in_.size() > 0) {
    parse_head();
  } else {
    read_more();
  }
}

void connection::read_more() {
  if (reading_ == reading::body) {
    read_some(
        net::buffer(body_.get() + body_have_, static_cast<std::size_t>(body_goal_ - body_have_)));
  } else {
    read_some(in_.prepare(read_step));
  }
}

void connection::on_read(error_code failed, std::size_t n) {
  if (failed) {
    if (reading_ == reading::drain && secure_) {
      say_farewell();
    } else {
      close();
    }
    return;
  }
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
  if (failed) {
    out_.reply = render(invalid_argument("Bad request: " + failed.message()), error_form::text);
    keep_alive_ = false;
    return begin_reply();
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
    return write_rest();
  }
  begin_body();
}

void connection::begin_body() {
  if (parser_->chunked()) {
    reading_ = reading::chunks;
    return parse_chunks();
  }
  if (body_size_ > most_body) {
    out_.reply = render(service_error{413, "uploadTooLarge", "EntityTooLarge", "Too large"},
                        error_form::text);
    return begin_reply();
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
  if (!early_) {
    unread_body_ = false;
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
  out_ = early_ ? std::move(early_->what) : service_.handle(request_);
  if (out_.wire.delay.count() > 0) {
    wait(out_.wire.delay, [](connection& self) { self.begin_reply(); });
  } else {
    begin_reply();
  }
}

void connection::begin_reply() {
  if (unread_body_) keep_alive_ = false;
  make_head();
  head_sent_ = 0;
  body_sent_ = 0;
  send_more();
}

void connection::make_head() {
  http_reply& reply = out_.reply;
  const bool may_have_body = reply.status != 204 && reply.status != 304 && reply.status >= 200;
  has_body_ = may_have_body && !reply.head_only;
  last_chunk_due_ = has_body_ && reply.chunked;
  head_.clear();
  head_.append("HTTP/1.1 ").append(std::to_string(reply.status)).append(" ");
  head_.append(reason_phrase(reply.status)).append("\r\n");
  for (const header_line& h : reply.headers) {
    head_.append(h.name).append(": ").append(h.value).append("\r\n");
  }
  if (reply.chunked && may_have_body) {
    head_ += "Transfer-Encoding: chunked\r\n";
  } else if (may_have_body) {
    head_.append("Content-Length: ").append(std::to_string(reply.body.size())).append("\r\n");
  }
  thread_local std::pair<std::time_t, std::string> date;
  const auto now = std::chrono::system_clock::now();
  const std::time_t second = std::chrono::system_clock::to_time_t(now);
  if (date.first != second) date = {second, http_date(now)};
  head_.append("Date: ").append(date.second).append("\r\nServer: UploadServer\r\n");
  if (!keep_alive_) head_ += "Connection: close\r\n";
  head_ += "\r\n";
}

/// Gathers the next bytes that the wire script lets through into pending_, and writes them.
void connection::send_more() {
  pending_ = {};
  const wire_script& wire = out_.wire;
  const std::uint64_t head_end = std::min<std::uint64_t>(head_.size(), wire.head_limit);
  if (head_sent_ < head_end) {
    pending_[0] =
        net::buffer(head_.data() + head_sent_, static_cast<std::size_t>(head_end - head_sent_));
    head_sent_ = head_end;
  }
  const bool head_whole = head_end == head_.size();
  const std::uint64_t size = has_body_ ? out_.reply.body.size() : 0;
  const std::uint64_t body_end = std::min(size, wire.body_limit);
  if (head_whole && body_sent_ < body_end) {
    std::uint64_t step = std::min<std::uint64_t>(write_step, body_end - body_sent_);
    if (wire.drip_bytes > 0) step = std::min<std::uint64_t>(step, wire.drip_bytes);
    const auto data = out_.reply.body.read(body_sent_, static_cast<std::size_t>(step), scratch_);
    // A seeded file became unreadable: nothing honest can follow the head.
    if (data.empty()) return reset();
    frame_chunk(data);
    body_sent_ += data.size();
    service_.seen().add_reply_bytes(data.size());
  } else if (head_whole && last_chunk_due_ && body_end == size) {
    last_chunk_due_ = false;
    pending_[1] = net::buffer("0\r\n\r\n", 5);
  }
  const bool nothing = std::ranges::all_of(pending_, [](const auto& b) { return b.size() == 0; });
  if (!nothing) return write_rest();
  if (wire.head_limit == wire_script::no_limit && wire.body_limit == wire_script::no_limit) {
    return finish_reply();
  }
  at_limit();
}

void connection::frame_chunk(std::span<const std::byte> data) {
  pending_[2] = net::buffer(data.data(), data.size());
  if (!out_.reply.chunked) return;
  std::array<char, 24> size{};
  const int n = std::snprintf(size.data(), size.size(), "%zx\r\n", data.size());
  chunk_head_.assign(size.data(), static_cast<std::size_t>(n));
  pending_[1] = net::buffer(chunk_head_);
  pending_[3] = net::buffer("\r\n", 2);
}

void connection::write_rest() { write_some(pending_); }

void connection::on_written(error_code failed, std::size_t n) {
  if (failed) return close();
  for (net::const_buffer& b : pending_) {
    const std::size_t taken = std::min(n, b.size());
    b += taken;
    n -= taken;
    if (b.size() > 0) return write_rest();
  }
  if (continuing_) {
    continuing_ = false;
    return begin_body();
  }
  const bool more = has_body_ && body_sent_ < out_.reply.body.size();
  if (out_.wire.drip_bytes > 0 && more) {
    wait(out_.wire.drip_interval, [](connection& self) { self.send_more(); });
  } else {
    send_more();
  }
}

void connection::at_limit() {
  wire_script& wire = out_.wire;
  if (wire.stall && wire.stall->count() == 0) {
    reading_ = reading::until_peer_leaves;
    return read_more();
  }
  if (wire.stall) {
    const auto duration = *wire.stall;
    wire = {};
    return wait(duration, [](connection& self) { self.send_more(); });
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

// ---- the two kinds of stream ----

class plain_connection final : public connection {
 public:
  plain_connection(service& behind, socket_type socket)
      : connection(behind, socket.get_executor(), false), socket_(std::move(socket)) {}
  void start() override { read_head(); }

 private:
  std::shared_ptr<plain_connection> self() {
    return std::static_pointer_cast<plain_connection>(shared_from_this());
  }
  socket_type& socket() override { return socket_; }
  void read_some(net::mutable_buffer into) override {
    socket_.async_read_some(into,
                            [me = self()](error_code e, std::size_t n) { me->on_read(e, n); });
  }
  void write_some(const buffers& from) override {
    socket_.async_write_some(from,
                             [me = self()](error_code e, std::size_t n) { me->on_written(e, n); });
  }
  void say_farewell() override {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    on_farewell();
  }
  socket_type socket_;
};

class tls_connection final : public connection {
 public:
  tls_connection(service& behind, socket_type socket, net::ssl::context& tls)
      : connection(behind, socket.get_executor(), true), stream_(std::move(socket), tls) {}
  void start() override {
    stream_.async_handshake(net::ssl::stream_base::server, [me = self()](error_code failed) {
      if (!failed) me->read_head();
    });
  }

 private:
  std::shared_ptr<tls_connection> self() {
    return std::static_pointer_cast<tls_connection>(shared_from_this());
  }
  socket_type& socket() override { return stream_.next_layer(); }
  void read_some(net::mutable_buffer into) override {
    stream_.async_read_some(into,
                            [me = self()](error_code e, std::size_t n) { me->on_read(e, n); });
  }
  void write_some(const buffers& from) override {
    stream_.async_write_some(from,
                             [me = self()](error_code e, std::size_t n) { me->on_written(e, n); });
  }
  void say_farewell() override {
    stream_.async_shutdown([me = self()](error_code) { me->on_farewell(); });
  }
  net::ssl::stream<socket_type> stream_;
};

/// One thread and the connections it serves.
struct worker {
  net::io_context io{1};
  net::executor_work_guard<executor> busy{io.get_executor()};
  std::thread thread{};

  void run() {
    thread = std::thread{[this] {
      // Signals belong to the program's own threads.
      sigset_t all;
      sigfillset(&all);
      ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
      io.run();
    }};
  }
};

}  // namespace

struct listener::impl {
  impl(emulator::service& behind, const std::string& address, std::uint16_t port, int threads,
       const certificate* certificate)
      : service(behind), workers(static_cast<std::size_t>(std::max(threads, 1))) {
    for (auto& w : workers) w = std::make_unique<worker>();
    if (certificate != nullptr) use(*certificate);
    const tcp::endpoint at{net::ip::make_address(address), port};
    acceptor.emplace(workers[0]->io);
    acceptor->open(at.protocol());
    acceptor->set_option(net::socket_base::reuse_address(true));
    acceptor->bind(at);
    acceptor->listen(net::socket_base::max_listen_connections);
    bound_port = acceptor->local_endpoint().port();
    accept();
    for (auto& w : workers) w->run();
  }

  ~impl() {
    for (auto& w : workers) w->io.stop();
    for (auto& w : workers) w->thread.join();
    // Destroying an io_context destroys what is outstanding on it, and so the connections.
    acceptor.reset();
  }
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;

  void use(const certificate& made) {
    tls.emplace(net::ssl::context::tls_server);
    tls->set_options(net::ssl::context::no_tlsv1 | net::ssl::context::no_tlsv1_1);
    tls->use_certificate_chain(net::buffer(made.certificate_pem));
    tls->use_private_key(net::buffer(made.key_pem), net::ssl::context::pem);
  }

  void accept() {
    worker& next = *workers[next_worker++ % workers.size()];
    acceptor->async_accept(next.io, [this, &next](error_code failed, socket_type socket) {
      if (failed == net::error::operation_aborted) return;
      if (!failed) begin(next, std::move(socket));
      accept();
    });
  }

  void begin(worker& on, socket_type socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    std::shared_ptr<connection> fresh;
    if (tls) {
      fresh = std::make_shared<tls_connection>(service, std::move(socket), *tls);
    } else {
      fresh = std::make_shared<plain_connection>(service, std::move(socket));
    }
    net::post(on.io, [fresh] { fresh->start(); });
  }

  emulator::service& service;
  std::optional<net::ssl::context> tls{};
  std::vector<std::unique_ptr<worker>> workers;
  std::optional<acceptor_type> acceptor{};
  std::size_t next_worker{0};
  std::uint16_t bound_port{0};
};

listener::listener(service& behind, const std::string& address, std::uint16_t port, int threads,
                   const certificate* tls)
    : impl_(std::make_unique<impl>(behind, address, port, threads, tls)) {}
listener::~listener() = default;
std::uint16_t listener::port() const noexcept { return impl_->bound_port; }

}  // namespace emulator
