#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/s3/client.hpp>

#include <support/catch.hpp>
#include <support/memory_transport.hpp>
#include <support/virtual_client.hpp>

#include <string>
#include <string_view>
#include <utility>

/// A client of S3 in virtual time, and a service that is a function.
namespace s3_client_test {

namespace http = dataflux::detail::http;
namespace s3 = dataflux::s3;
using dataflux::result;
using http::memory_reply;
using http::memory_request;

inline constexpr std::string_view session_token{"SESSION-TOKEN-0123456789abcdef"};

inline s3::client_options usual_options() {
  return {.credentials = dataflux::make_aws_keys({.id = "AKIDEXAMPLE",
                                                  .secret = "SECRET-0123456789abcdef",
                                                  .session_token = std::string(session_token)})
                             .value(),
          .region = "us-east-1",
          .endpoint = "https://store.test"};
}

/// Of AWS itself, which is not asked whether it keeps conditions.
inline s3::client_options aws_options() {
  auto options = usual_options();
  options.endpoint.clear();
  return options;
}

inline memory_reply failure_of(int status, std::string_view code, std::string_view more = {}) {
  return {.status = status,
          .body = "<Error><Code>" + std::string(code) + "</Code><Message>m</Message>" +
                  std::string(more) + "</Error>"};
}

inline memory_reply stored_reply() {
  return {.headers = {{"ETag", "\"abc\""}, {"Content-Length", "0"}}};
}

class fixture : public dataflux::test::virtual_client<s3::client> {
 public:
  explicit fixture(s3::client_options o = usual_options())
      : virtual_client(std::move(o), [](const auto&) { return stored_reply(); }) {}
};

inline bool is_signed(const memory_request& r, std::string_view region) {
  const auto value = r.headers.find("Authorization");
  return value &&
         value->find("/" + std::string(region) + "/s3/aws4_request") != std::string_view::npos;
}

}  // namespace s3_client_test
