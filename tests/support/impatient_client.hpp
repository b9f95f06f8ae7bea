#pragma once

#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>

#include <chrono>
#include <memory>

/// A client that tries again soon, up to `attempts` times, and waits for nothing long: for streams
/// over a socket on which something breaks all the time.
inline std::shared_ptr<dataflux::gcs::client> impatient_client(const emulator::server& server,
                                                               int attempts = 6) {
  using std::chrono::milliseconds;
  dataflux::gcs::client_options o{.endpoint = server.endpoint(), .emulator = true};
  o.retry = {.max_attempts = attempts, .first = milliseconds(1), .cap = milliseconds(5)};
  o.stall_timeout = milliseconds(300);
  o.first_byte_timeout = milliseconds(500);
  o.transport.io_threads = 2;
  return dataflux::gcs::client::create(o).value();
}
