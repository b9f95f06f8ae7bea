#include <dataflux/auth/credentials.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "flow_play.hpp"
#include "scripted_environment.hpp"
#include "test_key.hpp"

namespace given_tokens_test {

using dataflux::errc;
using dataflux::error;
using dataflux::result;
using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;

namespace {

/// Goes through the flow of a provider, whose blocking step runs here.
result<dataflux::access_token> token_of(const dataflux::credentials_ptr& from) {
  const auth::flow_moment now{test::some_time(), 0.5};
  const auto flow = from->start();
  auto step = flow->resume(std::monostate{}, now);
  REQUIRE(std::holds_alternative<auth::blocking_step>(step));
  step = flow->resume(std::get<auth::blocking_step>(step).work(), now);
  if (auto* const why = std::get_if<error>(&step)) return std::move(*why);
  return std::get<dataflux::access_token>(std::move(step));
}

}  // namespace

TEST_CASE("token provider: its token is checked, and its failures are told", "[auth]") {
  std::function<result<dataflux::access_token>()> gives;
  int calls = 0;
  const auto provider = dataflux::make_token_provider([&] {
    ++calls;
    return gives();
  });
  CHECK_FALSE(provider->anonymous());
  gives = [] { return dataflux::access_token{"p1", test::some_time() + 1h}; };
  CHECK(token_of(provider).value().value == "p1");
  CHECK(token_of(provider).value().expires == test::some_time() + 1h);
  CHECK(calls == 2);

  gives = [] { return dataflux::access_token{"a\r\nb", test::some_time() + 1h}; };
  CHECK(token_of(provider).error().code() == errc::invalid_argument);
  gives = [] { return dataflux::access_token{"", test::some_time() + 1h}; };
  CHECK(token_of(provider).error().code() == errc::invalid_argument);
  gives = [] { return dataflux::access_token{"late", test::some_time()}; };
  CHECK(token_of(provider).error().code() == errc::invalid_argument);
  gives = [] { return error(errc::permission_denied, "the vault says no"); };
  CHECK(token_of(provider).error().code() == errc::permission_denied);
  CHECK(token_of(provider).error().message() == "the vault says no");
  gives = []() -> result<dataflux::access_token> { throw std::runtime_error("secret"); };
  CHECK(token_of(provider).error().code() == errc::internal);
  CHECK(token_of(provider).error().message().find("secret") == std::string::npos);
}

TEST_CASE("token provider: what is a file's is no token, and what could be a path may be one",
          "[auth]") {
  std::string token;
  const auto provider = dataflux::make_token_provider([&token] {
    return dataflux::access_token{token, test::some_time() + 1h};
  });
  const temporary_folder scratch;
  const auto path = scratch.path / "key";
  for (const std::string& legal : {path.string(), std::string("/abc+/d.e~f=="),
                                   std::string("a./b~/c.json="), std::string("a")}) {
    token = legal;
    CHECK(token_of(provider).value().value == legal);
  }
  std::ofstream(path) << "{}";
  for (const std::string& file :
       {path.string(), scratch.path.string(), std::string("{\"type\":1}"),
        "file://" + path.string(), std::string("./key"), std::string("../key"),
        std::string("~/key"), std::string("key.json"), std::string("/nowhere/KEY.JSON"),
        std::string(".json"), std::string("gs://bucket/key")}) {
    token = file;
    const error why = token_of(provider).error();
    CHECK(why.code() == errc::invalid_argument);
    CHECK(why.message().find("credentials file") != std::string::npos);
    CHECK(why.message().find(file) == std::string::npos);
  }
}

TEST_CASE("token provider: without a thread for its step the flow ends with that error", "[auth]") {
  const auto provider = dataflux::make_token_provider([] {
    return dataflux::access_token{"p", test::some_time() + 1h};
  });
  const auto flow = provider->start();
  const auth::flow_moment now{test::some_time(), 0.5};
  static_cast<void>(flow->resume(std::monostate{}, now));
  const auto step =
      flow->resume(result<std::string>(error(errc::resource_exhausted, "no thread")), now);
  REQUIRE(std::holds_alternative<error>(step));
  CHECK(std::get<error>(step).code() == errc::resource_exhausted);
}

TEST_CASE("set tokens: the flow asks once, waits, and then says what was missing", "[auth]") {
  int asked = 0;
  const auto credentials = dataflux::make_set_tokens([&asked] { ++asked; }, 5s);
  const auth::flow_moment now{test::some_time(), 0.5};
  const auto flow = credentials->start();
  auto step = flow->resume(std::monostate{}, now);
  REQUIRE(std::holds_alternative<auth::wait_step>(step));
  CHECK(std::get<auth::wait_step>(step).wait == 5s);
  CHECK(asked == 1);
  step = flow->resume(std::monostate{}, now);
  REQUIRE(std::holds_alternative<error>(step));
  CHECK(std::get<error>(step).code() == errc::unauthenticated);
  CHECK(asked == 1);
  // Nobody need listen, and 0 is a minute.
  step = dataflux::make_set_tokens()->start()->resume(std::monostate{}, now);
  CHECK(std::get<auth::wait_step>(step).wait == 60s);
}

TEST_CASE("token file: what it has is read each time", "[auth]") {
  test::scripted_environment machine;
  machine.files["/t"] = "t1\n";
  const auto credentials = dataflux::make_token_file("/t", machine);
  test::flow_play play({test::no_answer()});
  const auto first = play(*credentials);
  CHECK(test::told(first) == "t1");
  CHECK(std::get<dataflux::access_token>(first).expires == test::some_time() + 9min);
  machine.files["/t"] = "t2";
  CHECK(test::told(play(*credentials)) == "t2");
  for (const std::string bad : {"", "\n", "a\nb", R"({"type":"authorized_user"})"}) {
    machine.files["/t"] = bad;
    CHECK(std::get<error>(play(*credentials)).code() == errc::invalid_argument);
  }
  machine.files.erase("/t");
  CHECK(std::get<error>(play(*credentials)).code() == errc::unauthenticated);
  CHECK(play.waits == 2);
}

}  // namespace given_tokens_test
