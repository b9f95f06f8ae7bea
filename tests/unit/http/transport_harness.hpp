#pragma once

#include <dataflux/http/curl_transport.hpp>

#include <support/catch.hpp>

#include <memory>
#include <string>
#include <utility>

/// What tests of curl_transport over a socket share.
namespace transport_harness {

inline const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Of one I/O thread, unless the options say otherwise.
inline std::shared_ptr<dataflux::curl_transport> make(
    dataflux::curl_transport_options options = {}) {
  if (options.io_threads == 0) options.io_threads = 1;
  auto made = dataflux::curl_transport::create(options);
  REQUIRE(made);
  return std::move(*made);
}

}  // namespace transport_harness
