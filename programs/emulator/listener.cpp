#include <emulator/connection.hpp>
#include <emulator/digest.hpp>
#include <emulator/listener.hpp>

#include <signal.h>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace emulator {
namespace {

using net::ip::tcp;
using acceptor_type = net::basic_socket_acceptor<tcp, executor>;

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
      if (!failed) me->keep_certificate();
      if (!failed) me->read_head();
    });
  }

 private:
  void keep_certificate() {
    const std::unique_ptr<X509, decltype(&X509_free)> shown{
        SSL_get1_peer_certificate(stream_.native_handle()), X509_free};
    unsigned char* bytes = nullptr;
    const int size = shown == nullptr ? 0 : i2d_X509(shown.get(), &bytes);
    if (size <= 0) return;
    show(base64_encode({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)}));
    OPENSSL_free(bytes);
  }
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
       const certificate* certificate, bool demands)
      : service(behind), workers(static_cast<std::size_t>(std::max(threads, 1))) {
    for (auto& w : workers) w = std::make_unique<worker>();
    if (certificate != nullptr) use(*certificate, demands);
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

  void use(const certificate& made, bool demands) {
    tls.emplace(net::ssl::context::tls_server);
    tls->set_options(net::ssl::context::no_tlsv1 | net::ssl::context::no_tlsv1_1);
    tls->use_certificate_chain(net::buffer(made.certificate_pem));
    tls->use_private_key(net::buffer(made.key_pem), net::ssl::context::pem);
    // Without a name for them, sessions of clients with a certificate cannot be resumed.
    static constexpr unsigned char name[] = "emulator";
    ::SSL_CTX_set_session_id_context(tls->native_handle(), name, sizeof name);
    if (demands) {
      tls->add_certificate_authority(net::buffer(made.authority_pem));
      tls->set_verify_mode(net::ssl::verify_peer | net::ssl::verify_fail_if_no_peer_cert);
      return;
    }
    // Whoever has a certificate may show it: what it is good for, a verb says.
    tls->set_verify_mode(net::ssl::verify_peer);
    tls->set_verify_callback([](bool, net::ssl::verify_context&) { return true; });
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
                   const certificate* tls, bool demands)
    : impl_(std::make_unique<impl>(behind, address, port, threads, tls, demands)) {}
listener::~listener() = default;
std::uint16_t listener::port() const noexcept { return impl_->bound_port; }

}  // namespace emulator
