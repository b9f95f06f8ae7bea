#pragma once

#include <emulator/reply_writer.hpp>
#include <emulator/service.hpp>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

/// Seen by connection.cpp and listener.cpp only: Beast and Asio take long to compile.
namespace emulator {

namespace net = boost::asio;
using boost::system::error_code;
using executor = net::io_context::executor_type;
using socket_type = net::basic_stream_socket<net::ip::tcp, executor>;

/// One connection, from accept to close. Strictly one step after the other, all on the one thread
/// of its io_context, so nothing here is locked. Whatever is outstanding holds a shared_ptr to it.
class connection : public std::enable_shared_from_this<connection> {
 public:
  using buffers = std::array<net::const_buffer, 4>;

  connection(service& behind, const executor& on, bool secure)
      : service_(behind),
        timer_(on),
        secure_(secure),
        pace_(behind.network().connection_bytes_per_second) {
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
  /// The client's certificate, DER in base64.
  void show(std::string certificate) { client_certificate_ = std::move(certificate); }

 private:
  using timer_type =
      net::basic_waitable_timer<std::chrono::steady_clock,
                                net::wait_traits<std::chrono::steady_clock>, executor>;
  enum class reading { head, body, chunks, until_peer_leaves, drain };

  void read_more();
  void parse_head();
  void on_head();
  void begin_body();
  void on_body_bytes();
  void parse_chunks();
  void execute();
  void refuse(const service_error& why);
  void send_more();
  void at_limit();
  void finish_reply();
  void end();
  void reset();
  void close();
  template <typename Then>
  void wait(std::chrono::nanoseconds duration, Then then);
  std::chrono::nanoseconds pause_after(std::uint64_t bytes);
  void read_now();

  service& service_;
  timer_type timer_;
  const bool secure_;
  std::string client_certificate_{};

  boost::beast::flat_buffer in_{};
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_{};
  http_request request_{};  ///< its head borrows from parser_
  reading reading_{reading::head};
  std::optional<service::early_exchange> early_{};
  std::shared_ptr<std::byte> body_{};
  std::uint64_t body_size_{0};  ///< by Content-Length
  std::uint64_t body_have_{0};
  std::uint64_t body_goal_{0};  ///< where to stop reading: all, or where a fault acts
  bool keep_alive_{true};
  bool unread_body_{false};
  bool continuing_{false};  ///< "100 Continue" is being written

  reply_writer writer_{};
  pacer pace_;
  std::chrono::nanoseconds debt_{0};  ///< to wait before reading on
  bool first_reply_{true};
  buffers pending_{};  ///< what of the writer's step is still to be sent
};

}  // namespace emulator
