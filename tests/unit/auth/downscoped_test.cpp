#include <dataflux/auth/credentials.hpp>
#include <dataflux/codec/detail/percent.hpp>

#include <support/catch.hpp>

#include "flow_play.hpp"
#include "test_key.hpp"

namespace downscoped_test {

using dataflux::errc;
using dataflux::error;
using namespace std::chrono_literals;

namespace {

dataflux::credentials_ptr source() {
  return dataflux::make_token_provider([] {
    return dataflux::access_token{"ya29.SECRET", test::some_time() + 20min};
  });
}

dataflux::access_boundary boundary() {
  return {.rules = {{.bucket = "data",
                     .roles = {"roles/storage.objectViewer"},
                     .condition = "resource.name.startsWith('x')"}}};
}

}  // namespace

TEST_CASE("downscoped: a token is exchanged for one that may do less", "[auth]") {
  const auto credentials = dataflux::make_downscoped_credentials(source(), boundary()).value();
  test::flow_play play({test::says(200, R"({"access_token":"ya29.less"})")});
  const auto step = play(*credentials);
  CHECK(test::told(step) == "ya29.less");
  CHECK(std::get<dataflux::access_token>(step).expires == test::some_time() + 20min);
  CHECK(play.where(0) == "https://sts.googleapis.com:443/v1/token");
  const std::string& body = play.sent[0].body;
  const std::string once =
      dataflux::detail::codec::decode_percent(body.substr(body.find("&options=") + 9)).value();
  CHECK(dataflux::detail::codec::decode_percent(once) ==
        R"x({"accessBoundary":{"accessBoundaryRules":[{"availablePermissions":)x"
        R"x(["inRole:roles/storage.objectViewer"],"availableResource":)x"
        R"x("//storage.googleapis.com/projects/_/buckets/data","availabilityCondition":)x"
        R"x({"expression":"resource.name.startsWith('x')"}}]}})x");
  CHECK(body.find("audience=") == std::string::npos);

  test::flow_play timed({test::says(200, R"({"access_token":"ya29.less","expires_in":60})")});
  CHECK(std::get<dataflux::access_token>(timed(*credentials)).expires == test::some_time() + 1min);
  for (const std::string bad :
       {"", "{", "{}", R"({"access_token":"a b"})", R"({"access_token":"a","expires_in":0})"}) {
    test::flow_play broken({test::says(200, bad)});
    CHECK(std::get<error>(broken(*credentials)).code() == errc::internal);
  }
  test::flow_play refused(
      {test::says(400, R"({"error":"invalid_grant","error_description":"bad ya29.SECRET"})")});
  const auto end = refused(*credentials);
  CHECK(std::get<error>(end).message().find("SECRET") == std::string::npos);
  CHECK(std::get<error>(end).message().find("exchange_service_account") != std::string::npos);
}

TEST_CASE("downscoped: a boundary that is none is refused", "[auth]") {
  const auto refused = [](dataflux::credentials_ptr from, const dataflux::access_boundary& what) {
    return dataflux::make_downscoped_credentials(std::move(from), what).error().code();
  };
  CHECK(refused(source(), {}) == errc::invalid_argument);
  CHECK(refused(nullptr, boundary()) == errc::invalid_argument);
  CHECK(refused(dataflux::make_anonymous_credentials(), boundary()) == errc::invalid_argument);
  auto many = boundary();
  many.rules.resize(11, many.rules[0]);
  CHECK(refused(source(), many) == errc::invalid_argument);
  auto nameless = boundary();
  nameless.rules[0].bucket.clear();
  CHECK(refused(source(), nameless) == errc::invalid_argument);
  auto powerless = boundary();
  powerless.rules[0].roles.clear();
  CHECK(refused(source(), powerless) == errc::invalid_argument);
  auto plain = boundary();
  plain.token_url = "http://sts.example/v1/token";
  CHECK(refused(source(), plain) == errc::invalid_argument);
}

}  // namespace downscoped_test
