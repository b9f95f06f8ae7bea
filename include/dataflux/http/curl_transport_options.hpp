#pragma once

#include <dataflux/deadline.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::http {

/// How curl_transport connects. Every default suits a training job on a cloud machine.
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
  /// A peer that acknowledges nothing for this long is taken for gone (TCP_USER_TIMEOUT), also
  /// while nothing is under way: keepalive asks after half of it. Connecting ends by it, too. Zero
  /// = the system's limits.
  duration peer_timeout{std::chrono::seconds(60)};
  /// How long an answer of the resolver is used.
  duration resolve_ttl{std::chrono::seconds(60)};
  /// PEM file of trusted authorities; empty = the system's.
  std::string ca_file{};
  /// PEM files of a client certificate and its key, for mutual TLS; both or none.
  std::string client_certificate_file{};
  std::string client_key_file{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::http
