#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/s3/client.hpp>

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

/// A client of S3, and an S3 of our own with a bucket "bucket".
namespace s3_test {

inline emulator::server_options s3_server(const emulator::s3::options& how) {
  emulator::server_options o;
  o.threads = 2;
  o.service.s3 = how;
  return o;
}

inline dataflux::credentials_ptr keys_of(const std::string& secret) {
  return dataflux::make_aws_keys({.id = emulator::s3::options{}.access_key, .secret = secret})
      .value();
}

inline dataflux::s3::client_options options_of(const emulator::server& server) {
  using namespace std::chrono_literals;
  dataflux::s3::client_options o{.credentials = keys_of(emulator::s3::options{}.secret_key),
                                 .region = emulator::s3::options{}.region,
                                 .endpoint = server.endpoint()};
  o.retry = {.max_attempts = 6, .first = 1ms, .cap = 5ms};
  o.stall_timeout = o.first_byte_timeout = 500ms;
  return o;
}

using dataflux::test::content;

class fixture : public dataflux::test::served_client<dataflux::s3::client> {
 public:
  explicit fixture(const emulator::s3::options& how = {}) : served_client(s3_server(how)) {
    client = dataflux::s3::client::create(options_of(server)).value();
  }
  /// Nothing is late: for what sends much at once, on a machine that is busy.
  void be_patient() {
    auto options = options_of(server);
    options.stall_timeout = options.first_byte_timeout = std::chrono::seconds(60);
    client = dataflux::s3::client::create(options).value();
  }
  /// The client has found out what conditions are worth here, so that faults meet a test's own
  /// requests.
  void ask_for_conditions() {
    const auto made = put("asked", {}, {.if_generation_match = 0});
    INFO((made ? "" : made.error().to_string()));
    REQUIRE(made);
    REQUIRE(client->remove({.bucket = "bucket", .object = "asked"}));
  }

  dataflux::result<dataflux::object_metadata> put(const std::string& object,
                                                  dataflux::bytes_view data,
                                                  dataflux::preconditions c = {}) {
    return client->insert({.bucket = "bucket", .object = object, .data = data, .conditions = c});
  }
};

}  // namespace s3_test
