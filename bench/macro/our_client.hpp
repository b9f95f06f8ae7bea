#pragma once
// Our client, as the macro benchmarks make it: with its defaults.

#include <dataflux/gcs/client.hpp>

#include <memory>
#include <string>
#include <utility>

#include "measure.hpp"

namespace bench {

inline std::string text_of(const dataflux::error& error) { return std::string(error.message()); }

inline std::shared_ptr<dataflux::gcs::client> make_client(const options& given) {
  dataflux::gcs::client_options how;
  how.endpoint = given.endpoint;
  how.emulator = true;
  how.transport.io_threads = given.threads;
  how.transport.ca_file = given.tls ? given.ca : "";
  auto made = dataflux::gcs::client::create(std::move(how));
  if (!made) fail("cannot make a client", text_of(made.error()));
  return std::move(*made);
}

}  // namespace bench
