#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

/// A server that does on each connection what a test says, byte by byte, on plain blocking sockets.
/// For what no decent HTTP server would do.
class raw_server {
 public:
  /// One accepted connection, inside its script. Everything ends at once, as if the peer had left,
  /// when the server is destroyed. Used by the thread that runs the script only.
  class peer {
   public:
    /// Everything up to and with the next empty line; empty when the peer left before.
    std::string head();
    /// Exactly `size` bytes, fewer when the peer left before.
    std::string bytes(std::size_t size);
    /// What has come, at least a byte; empty when the peer left.
    std::string some();
    /// A head and, by its Content-Length, the body behind it. The head is kept for heads().
    std::string request();
    /// False when the peer is gone.
    bool send(std::string_view text);
    /// One piece at a time, each in a segment of its own.
    bool send_in_pieces(std::string_view text, std::size_t piece);
    /// Ends our direction.
    void finish();
    /// Ends our direction, then waits for the peer to end its own, so that no reset follows.
    void close();
    /// Ends both directions by RST.
    void reset();
    /// Until the peer leaves, reading and dropping what it sends.
    void drain();
    /// Until the server ends, reading nothing. The connection stays open.
    void stall();
    /// Joins this connection and one to `port` here until either ends: what a CONNECT proxy does.
    void tunnel_to(std::uint16_t port);
    std::size_t index() const noexcept { return index_; }  ///< of the connection, from 0

   private:
    friend class raw_server;
    peer(raw_server& owner, int socket, std::size_t index) noexcept
        : owner_(owner), socket_(socket), index_(index) {}
    bool more();
    raw_server& owner_;
    int socket_;
    std::size_t index_;
    std::string buffered_{};
  };
  using script = std::function<void(peer&)>;

  struct options {
    std::string address{"127.0.0.1"};
    /// Of the accepted sockets, 0 = the system's: small, so that a peer that sends soon blocks.
    int receive_buffer{0};
  };

  /// Connection n follows script n, and all later ones follow the last. The connection is closed
  /// when its script returns. Throws std::system_error when it cannot listen.
  explicit raw_server(std::vector<script> scripts) : raw_server(std::move(scripts), options{}) {}
  raw_server(std::vector<script> scripts, const options& how);
  raw_server(const raw_server&) = delete;
  raw_server& operator=(const raw_server&) = delete;
  ~raw_server();

  std::uint16_t port() const noexcept { return port_; }
  /// Connections accepted so far.
  std::size_t connections() const noexcept { return accepted_.load(); }
  /// Connections that live stay; new ones are refused from now on.
  void stop_listening();
  /// The heads of all requests that came to peer::request(), in order of arrival.
  std::vector<std::string> heads() const;

 private:
  void accept_all();
  void serve(int socket, std::size_t index);

  std::vector<script> scripts_;
  options options_;
  int listener_{-1};
  int stop_read_{-1};
  int stop_write_{-1};
  std::uint16_t port_{0};
  std::atomic<std::size_t> accepted_{0};
  mutable std::mutex mutex_{};
  std::vector<std::string> heads_{};
  std::vector<std::thread> threads_{};
  std::thread acceptor_{};
};

/// A listening socket whose backlog is full and stays so: connecting to it gets no answer.
class deaf_listener {
 public:
  deaf_listener();
  deaf_listener(const deaf_listener&) = delete;
  deaf_listener& operator=(const deaf_listener&) = delete;
  ~deaf_listener();
  std::uint16_t port() const noexcept { return port_; }

 private:
  int listener_{-1};
  std::vector<int> fillers_{};
  std::uint16_t port_{0};
};

/// A port of 127.0.0.1 on which nobody listens. Another process could take it, in theory.
std::uint16_t unused_port();
