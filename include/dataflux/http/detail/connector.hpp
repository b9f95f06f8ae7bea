#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/http/curl_transport_options.hpp>
#include <dataflux/http/failure.hpp>
#include <dataflux/http/url.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// libcurl, used to connect only: DNS, happy eyeballs, proxies, TLS with verification and client
/// certificates. What is said on the connection is ours. The one place that sees curl is
/// impl/connector.ipp.
///
/// Over TLS, or through a proxy, bytes move by curl_easy_send and curl_easy_recv. On a bare TCP
/// connection they would only add a search for the connection to each system call.
namespace dataflux::inline DATAFLUX_ABI::http::detail {

inline constexpr std::string_view connect_advice =
    "check the endpoint, the network and proxy settings";

/// A connected byte stream, plain or TLS. Non-blocking. Belongs to one I/O thread.
class stream {
 public:
  enum class status : std::uint8_t {
    ok,      ///< `count` bytes moved, at least one
    again,   ///< wait for the descriptor; a send is then repeated with the same bytes
    closed,  ///< the peer closed its direction (receive only)
    failed,  ///< broken; last_failure() says how
  };
  struct outcome {
    stream::status status{status::failed};
    std::size_t count{0};
  };

  int descriptor() const noexcept { return descriptor_; }
  outcome send(bytes_view bytes) noexcept;
  outcome receive(bytes_span memory) noexcept;
  /// What broke, for a person.
  std::string last_failure() const;

 private:
  friend class connector;
  void* easy_{nullptr};
  int descriptor_{-1};
  bool plain_{false};  ///< nothing but a TCP connection: no use in going through curl
  int failure_{0};
};

/// Opens streams, many at once, driven by one I/O thread's epoll. Its sockets are registered there
/// with data `socket_watch::tag(descriptor)` while they connect; after that the descriptor's new
/// owner registers it itself. Not thread-safe.
class connector {
 public:
  struct finished {
    void* user{nullptr};
    transport_failure failure{transport_failure::none};
    std::string detail{};  ///< what went wrong, and what to do
  };

  connector(const curl_transport_options& options, int epoll);
  connector(const connector&) = delete;
  connector& operator=(const connector&) = delete;
  /// All streams have been closed before.
  ~connector();

  /// Begins to connect; `user` comes back in next_finished(), never from inside this call.
  /// `addresses` are tried in order; empty = curl resolves (a proxy is in use).
  /// False when there is no memory; the stream is to be closed all the same.
  bool open(stream& s, const origin& to, const std::vector<std::string>& addresses,
            duration timeout, void* user);
  /// Takes a stream that finished without failure away from curl's watch; gives its descriptor.
  int adopt(stream& s) noexcept;
  /// Ends a stream in any state. A connect under way is given up without a finished entry.
  void close(stream& s) noexcept;

  void handle_socket(int descriptor, std::uint32_t events);
  /// To be called when next_timer() has passed.
  void handle_timers(time_point now);
  time_point next_timer() const noexcept;
  bool next_finished(finished& out);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::http::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/connector.ipp>
#endif
