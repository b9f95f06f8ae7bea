#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/http/curl_transport.hpp>
#include <dataflux/http/detail/failure.hpp>
#include <dataflux/http/detail/routes.hpp>
#include <dataflux/http/detail/stream.hpp>
#include <dataflux/http/detail/url.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// libcurl, used to connect only: DNS, happy eyeballs, proxies, TLS with verification and client
/// certificates. The bytes on the connection are ours. The one place that sees curl is
/// impl/connector.ipp, with what it is divided into.
namespace dataflux::inline DATAFLUX_ABI::detail::http {

inline constexpr std::string_view connect_advice =
    "check the endpoint, the network and proxy settings";
inline constexpr std::string_view proxy_advice =
    "the proxy refused the tunnel: name hosts of your own network in no_proxy";
inline constexpr std::string_view proxy_user_advice =
    "the proxy wants a user and a password: its URL has room for them";

/// Opens streams, many at once, driven by one I/O thread's epoll. Its sockets are registered there
/// with data `socket_watch::tag(descriptor)` while they connect; after that the descriptor's new
/// owner registers it itself. Not thread-safe.
///
/// A stream connects from open() until next_finished() has told its outcome. The loop drives that
/// by handle_socket() and handle_timers(), whose work curl does. Connected, it is taken over by
/// adopt(): then curl watches it no more, and send() and receive() are its owner's. close() ends it
/// in any state; of one that still connects no outcome is told any more. Its memory belongs to
/// curl's handle from open() to close().
class connector {
 public:
  struct finished {
    void* user{nullptr};
    transport_failure failure{transport_failure::none};
    std::string detail{};  ///< what went wrong, and what to do
  };

  /// The options are good: routes::parse() and check_proxy() take them.
  connector(const curl_transport_options& options, int epoll);
  connector(const connector&) = delete;
  connector& operator=(const connector&) = delete;
  /// All streams have been closed before.
  ~connector();

  /// Begins to connect; `user` comes back in next_finished(), never from inside this call.
  /// `addresses`, of the place that detours() gives, are tried in order; empty = curl resolves (a
  /// proxy is in use).
  /// False when there is no memory; the stream is to be closed all the same.
  bool open(stream& s, const origin& to, const std::vector<std::string>& addresses,
            duration timeout, void* user);
  /// Takes a stream that finished without failure away from curl's watch; gives its descriptor,
  /// which stays open until close(). -1 if there is none, or if the peer has spoken unasked.
  int adopt(stream& s) noexcept;
  /// Ends a stream in any state. A connect under way is given up without a finished entry.
  void close(stream& s) noexcept;

  /// Where connections go that the options lead elsewhere.
  const routes& detours() const noexcept;
  /// For an error: which of the options lead a connection elsewhere, and where; empty: none does.
  std::string route_of(const origin& to) const;

  void handle_socket(int descriptor, std::uint32_t events);
  /// To be called when next_timer() has passed.
  void handle_timers(time_point now);
  time_point next_timer() const noexcept;
  bool next_finished(finished& out) noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/connector.ipp>
#include <dataflux/http/impl/connector_events.ipp>
#include <dataflux/http/impl/connector_setup.ipp>
#endif
