#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/s3/client.hpp>

#include <support/catch.hpp>
#include <support/memory_transport.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

class fixture {
 public:
  explicit fixture(s3::client_options o = usual_options()) {
    o.shared_transport = net;
    client = s3::client::create(std::move(o)).value();
  }
  fixture(const fixture&) = delete;
  fixture& operator=(const fixture&) = delete;
  ~fixture() {
    time.run();
    client.reset();
  }

  template <class Request>
  result<typename Request::value> run(const Request& request) {
    using value = typename Request::value;
    std::optional<result<value>> got;
    client->start(request, [&](result<value> outcome) { got.emplace(std::move(outcome)); });
    time.run();
    return std::move(got.value());
  }
  result<dataflux::read_summary> read(dataflux::read_request request = {.bucket = "bkt",
                                                                        .object = "o"}) {
    std::optional<result<dataflux::read_summary>> got;
    dataflux::span_sink sink(memory);
    client->start(request, sink,
                  [&](result<dataflux::read_summary> outcome) { got.emplace(std::move(outcome)); });
    time.run();
    return std::move(got.value());
  }
  const memory_request& sent(std::size_t i) { return net->log().at(i); }

  std::function<memory_reply(const memory_request&)> answer = [](const auto&) {
    return memory_reply{.headers = {{"ETag", "\"abc\""}, {"Content-Length", "0"}}};
  };
  dataflux::virtual_scheduler time{};
  std::shared_ptr<http::memory_transport> net = std::make_shared<http::memory_transport>(
      time, [this](const memory_request& r) { return answer(r); });
  std::vector<std::byte> memory = std::vector<std::byte>(64);
  std::shared_ptr<s3::client> client{};
};

inline bool is_signed(const memory_request& r, std::string_view region) {
  const auto value = r.headers.find("Authorization");
  return value &&
         value->find("/" + std::string(region) + "/s3/aws4_request") != std::string_view::npos;
}

}  // namespace s3_client_test
