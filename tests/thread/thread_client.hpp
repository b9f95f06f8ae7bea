#pragma once

#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>

#include <chrono>
#include <memory>
#include <utility>

/// A client for many threads: two of its own, few connections, and it tries again soon.
inline std::shared_ptr<dataflux::gcs::client> thread_client(
    const emulator::server& server, dataflux::observer* observer = nullptr) {
  using std::chrono::milliseconds;
  dataflux::gcs::client_options o{.endpoint = server.endpoint(), .emulator = true};
  o.observer = observer;
  o.retry = {.first = milliseconds(1), .cap = milliseconds(5)};
  o.transport.io_threads = 2;
  o.transport.max_connections_per_host = 8;
  auto made = dataflux::gcs::client::create(o);
  REQUIRE(made);
  return std::move(*made);
}
