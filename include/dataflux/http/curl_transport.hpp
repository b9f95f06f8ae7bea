#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/http/detail/transport.hpp>
#include <dataflux/result.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// What a client shows of itself in a TLS handshake, for mutual TLS: a certificate and its key, in
/// two files or as two texts. All PEM.
struct client_certificate {
  /// The certificate, and behind it those that lead to its authority. Both files are read anew for
  /// each connection, since they are replaced before the certificate ends.
  std::string certificate_file{};
  std::string key_file{};
  /// The same where there are no files.
  std::string certificate{};
  std::string key{};
  /// Of a key that is encrypted; a secret, as the key is.
  std::string key_password{};

  bool empty() const noexcept { return certificate_file.empty() && certificate.empty(); }
};

/// How curl_transport connects. Every default suits a training job on a cloud machine.
/// How a transport connects. 0 = the default of each.
struct curl_transport_options {
  /// Threads that move bytes; 0 = one per four CPUs that the process may use, by affinity and by
  /// quota of its control groups; at least one.
  std::size_t io_threads{0};
  /// Connections to one host, over all threads.
  std::size_t max_connections_per_host{256};
  /// Connections in all, over all threads; idle ones to other hosts make room, and busy hosts give
  /// way to those that wait.
  std::size_t max_connections{512};
  /// An idle connection is closed after this long, or when the server's `Keep-Alive: timeout=` is
  /// about to end; the service closes its end after some minutes.
  duration idle_timeout{std::chrono::seconds(60)};
  /// A peer without an acknowledgement for this long counts as gone (TCP_USER_TIMEOUT), also while
  /// idle: keepalive asks after half of it. It also limits connecting. duration::max() = the
  /// system's limits.
  duration peer_timeout{std::chrono::seconds(60)};
  /// How long an answer of the resolver is used.
  duration resolve_ttl{std::chrono::seconds(60)};
  /// PEM file of trusted authorities; empty = those that SSL_CERT_FILE and SSL_CERT_DIR name, else
  /// the system's.
  std::string ca_file{};
  /// Shown to servers that ask for one, in mutual TLS.
  client_certificate client{};
  /// "http[s]://[user[:password]@]host:port": all connections but those that no_proxy excepts go
  /// through it. Empty: what https_proxy, http_proxy, all_proxy and no_proxy of the environment
  /// say.
  std::string proxy{};
  /// Hosts that are reached without any proxy: "*", names with what is below them,
  /// addresses, networks such as 10.0.0.0/8, between commas. The environment's no_proxy counts for
  /// the environment's proxies alone.
  std::string no_proxy{};
  /// PEM file of the authorities of an https `proxy`; empty = as of servers.
  std::string proxy_ca_file{};
  /// "host:port:address[,address...]", as curl has it: no name server is asked for that host.
  /// Through a proxy the host is the proxy's to find.
  std::vector<std::string> resolve{};
  /// "host:port:other_host:other_port", as curl has it: connections to the first go to the second,
  /// while requests, SNI and the certificate that is asked for name the first.
  std::vector<std::string> connect_to{};
};

/// The transport on sockets. libcurl connects (resolving, happy eyeballs, proxies by environment,
/// TLS >= 1.2 with verification, client certificates). On that connection this library speaks
/// HTTP/1.1 itself, from and into the caller's memory. HTTP/2 would put all streams of a process
/// behind one TCP window and one TLS context. For bulk transfers many HTTP/1.1 connections are
/// faster and cost less CPU, so it offers only those.
///
/// Each I/O thread has its own epoll, connections and queue; an exchange stays on its thread.
/// Redirects are not followed and bodies are not decoded. A request that dies on a reused
/// connection before any reply byte is sent again at once on a fresh one when it is idempotent or
/// nothing of it was sent.
///
/// Errors: those of create(); exchanges have their own.
///
/// Lifetime: destruction cancels and joins within the time of one event-loop turn. After fork() the
/// child must make its own transport: submit fails there and destruction leaks on purpose.
///
/// Threads: all members from any thread.
///
/// Cost: curl_transport_options::io_threads threads, and up to max_connections sockets.
class curl_transport final : public detail::http::transport {
 public:
  /// Starts the threads. Errors: invalid_argument for files that cannot be read, for a client
  /// certificate without its key, and for a bad entry of the others; resource_exhausted when
  /// threads or descriptors are out.
  static result<std::shared_ptr<curl_transport>> create(const curl_transport_options& options);
  DATAFLUX_INLINE ~curl_transport() override;

  DATAFLUX_INLINE void submit(detail::ref<detail::http::exchange> e) override;
  DATAFLUX_INLINE void cancel(detail::ref<detail::http::exchange> e) noexcept override;
  DATAFLUX_INLINE scheduler& next_executor() noexcept override;
  DATAFLUX_INLINE bool is_current() const noexcept override;
  DATAFLUX_INLINE std::size_t threads() const noexcept override;
  DATAFLUX_INLINE connection_snapshot look() const override;

  /// Connections open now, idle ones included, over all threads.
  std::size_t connections() const noexcept;

 private:
  struct state;
  explicit curl_transport(std::unique_ptr<state> s) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/curl_transport.ipp>
#endif
