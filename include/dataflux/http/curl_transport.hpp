#pragma once

#include <dataflux/http/curl_transport_options.hpp>
#include <dataflux/http/transport.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <memory>

namespace dataflux::inline DATAFLUX_ABI::http {

/// The transport on sockets. libcurl connects (resolving, happy eyeballs, proxies by environment,
/// TLS >= 1.2 with verification, client certificates); on the connection that it made this library
/// speaks HTTP/1.1 itself, from and into the caller's memory. HTTP/2 would put all streams of a
/// process behind one TCP window and one TLS context; for bulk transfers many HTTP/1.1 connections
/// are faster and cost less CPU, so only that is offered.
///
/// Each I/O thread has its own epoll, connections and queue; an exchange stays on its thread.
/// Redirects are not followed and bodies are not decoded. A request that dies on a reused
/// connection before any reply byte is sent again at once on a fresh one when it is idempotent or
/// nothing of it was sent.
///
/// Destruction cancels and joins within the time of one event-loop turn. After fork() the child
/// must make its own transport: submit fails there and destruction leaks on purpose.
class curl_transport final : public transport {
 public:
  /// Starts the threads. Errors: invalid_argument for files that cannot be read or half a client
  /// certificate; resource_exhausted when threads or descriptors are out.
  static result<std::shared_ptr<curl_transport>> create(const curl_transport_options& options);
  ~curl_transport() override;

  void submit(ref<exchange> e) override;
  void cancel(ref<exchange> e) noexcept override;
  scheduler& next_executor() noexcept override;
  bool is_current() const noexcept override;

  /// Connections open now, idle ones included, over all threads.
  std::size_t connections() const noexcept;

 private:
  struct state;
  explicit curl_transport(std::unique_ptr<state> s) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/curl_transport.ipp>
#endif
