#include <dataflux/auth/credentials.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/service/detail/bearer_signer.hpp>

#include <support/catch.hpp>
#include <support/counted_new.hpp>
#include <support/memory_transport.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

/// What a request costs for its token, in a program that counts allocations.
namespace token_test {

namespace http = dataflux::detail::http;
namespace service = dataflux::detail::service;

TEST_CASE("bearer_signer: a request allocates nothing for its token once there is one",
          "[memory]") {
  dataflux::virtual_scheduler time;
  http::memory_transport net{time,
                             [](const http::memory_request&) { return http::memory_reply{}; }};
  service::bearer_signer signer(dataflux::make_set_tokens(), net);
  REQUIRE(signer.tokens().set_token({std::string(1000, 't'), dataflux::system_time::max()}));
  http::request request;
  service::credential kept;
  const auto once = [&] {
    request.clear();
    const auto given = signer.try_get(time.now());
    if (!given) return false;
    kept.assign(*given);
    return signer.sign({.request = request}, kept).has_value();
  };
  // The first one gives its strings their capacity.
  REQUIRE(once());
  const std::int64_t before = dataflux::test::allocations();
  bool good = true;
  for (int i = 0; i < 1000; ++i) good = once() && good;
  CHECK(dataflux::test::allocations() == before);
  CHECK(good);
  CHECK(request.headers.find("Authorization")->size() == 1007);
}

}  // namespace token_test
