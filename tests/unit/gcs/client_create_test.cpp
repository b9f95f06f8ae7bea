#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/authorized_user.hpp>
#include <dataflux/gcs/client.hpp>

#include <support/catch.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace client_create_test {

namespace gcs = dataflux::gcs;

TEST_CASE("client: what would end a header field is refused when it is made (mend 15)", "[gcs]") {
  const std::vector<std::string> values{"a\r\nX-Evil: 1", "a\nb", "a\rb", std::string("a\0b", 3)};
  for (const std::string& bad : values) {
    for (const auto& [field, name] : {std::pair{&gcs::client_options::user_agent, "user_agent"},
                                      {&gcs::client_options::user_project, "user_project"},
                                      {&gcs::client_options::quota_project, "quota_project"}}) {
      gcs::client_options o{.endpoint = "127.0.0.1:9", .emulator = true};
      o.*field = bad;
      const auto made = gcs::client::create(std::move(o));
      REQUIRE_FALSE(made);
      CHECK(made.error().code() == dataflux::errc::invalid_argument);
      CHECK(made.error().message().find(name) != std::string::npos);
      CHECK(made.error().message().find("Evil") == std::string::npos);
    }
  }
  CHECK(gcs::client::create({.endpoint = "127.0.0.1:9",
                             .emulator = true,
                             .user_project = "p-0",
                             .quota_project = "p-1",
                             .user_agent = "trainer/2.1 (a; b)"}));
}

TEST_CASE("client: a quota project that credentials bring is looked at, too (mend 15)", "[gcs]") {
  const auto credentials_with = [](const std::string& project) {
    auto parsed = dataflux::detail::auth::parse_authorized_user(
        R"({"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r",)"
        R"("quota_project_id":")" +
            project + "\"}",
        "adc.json");
    REQUIRE(parsed);
    return *parsed;
  };
  const auto made = gcs::client::create(
      {.credentials = credentials_with(R"(a\r\nX: y)"), .endpoint = "https://storage.example"});
  REQUIRE_FALSE(made);
  CHECK(made.error().code() == dataflux::errc::invalid_argument);
  CHECK(gcs::client::create(
      {.credentials = credentials_with("a"), .endpoint = "https://storage.example"}));
}

TEST_CASE("client: credentials that were given are kept to its end, used or not", "[gcs]") {
  for (const bool emulator : {false, true}) {
    CAPTURE(emulator);
    auto given = dataflux::make_set_tokens();
    const std::weak_ptr<const dataflux::credentials> seen = given;
    auto client = dataflux::gcs::client::create(
                      {.credentials = std::move(given),
                       .endpoint = emulator ? "http://localhost:1" : "https://service.test",
                       .emulator = emulator})
                      .value();
    CHECK_FALSE(seen.expired());
    client.reset();
    CHECK(seen.expired());
  }
}

}  // namespace client_create_test
