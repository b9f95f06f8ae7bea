#pragma once

#include <dataflux/ais/client.hpp>
#include <dataflux/auth/credentials.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/served_client.hpp>
#include <support/synthetic_content.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// A client of AIStore, and one of our own with a bucket "bucket".
namespace ais_test {

inline emulator::server_options ais_server(const std::string& token) {
  emulator::server_options o;
  o.threads = 2;
  emulator::s3::options how;
  how.region = "ais";
  how.anonymous = how.completes_once = true;
  how.payload = emulator::s3::unsigned_payload::allowed;
  o.service.s3 = how;
  o.service.aistore = true;
  o.service.ais_token = token;
  return o;
}

inline dataflux::ais::client_options options_of(const emulator::server& server,
                                                const std::string& token = {}) {
  using namespace std::chrono_literals;
  dataflux::ais::client_options o{.endpoint = server.endpoint()};
  o.credentials =
      token.empty()
          ? dataflux::make_anonymous_credentials()
          : dataflux::make_token_provider([token]() -> dataflux::result<dataflux::access_token> {
              return dataflux::access_token{token, dataflux::system_time::max()};
            });
  o.retry = {.max_attempts = 6, .first = 1ms, .cap = 5ms};
  o.stall_timeout = o.first_byte_timeout = 2s;
  return o;
}

using dataflux::test::content;

class fixture : public dataflux::test::served_client<dataflux::ais::client> {
 public:
  explicit fixture(const std::string& token = {}) : served_client(ais_server(token)) {
    client = dataflux::ais::client::create(options_of(server, token)).value();
  }

  dataflux::result<dataflux::object_metadata> put(const std::string& object,
                                                  dataflux::bytes_view data) {
    return client->insert({.bucket = "bucket", .object = object, .data = data});
  }
};

}  // namespace ais_test
