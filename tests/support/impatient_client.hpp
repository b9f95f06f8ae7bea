#pragma once

#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>

#include <chrono>
#include <cstddef>
#include <memory>

/// A client that tries again soon, up to `attempts` times, and waits for nothing long: for streams
/// over a socket on which something breaks all the time. Over one connection requests are served
/// one after the other.
inline std::shared_ptr<dataflux::gcs::client> impatient_client(const emulator::server& server,
                                                               int attempts = 6,
                                                               std::size_t connections = 256) {
  using std::chrono::milliseconds;
  dataflux::gcs::client_options o{.endpoint = server.endpoint(), .emulator = true};
  o.retry = {.max_attempts = attempts, .first = milliseconds(1), .cap = milliseconds(5)};
  o.stall_timeout = milliseconds(300);
  o.first_byte_timeout = milliseconds(500);
  o.transport.io_threads = 2;
  o.transport.max_connections_per_host = connections;
  return dataflux::gcs::client::create(o).value();
}
