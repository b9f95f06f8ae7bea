#include <dataflux/auth/detail/keys_reply.hpp>

#include <support/catch.hpp>

#include "test_key.hpp"

namespace keys_reply_test {

using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;
using dataflux::system_time;
using dataflux::detail::codec::json_document;

namespace {

dataflux::result<dataflux::access_keys> read(const std::string& json, auth::answer_time when) {
  const auto document = json_document::parse(dataflux::as_bytes(json)).value();
  return auth::read_keys(document.root(), {}, when);
}

const auth::answer_time at{test::some_time(), std::nullopt};  // 2026-01-02T03:04:05Z

}  // namespace

TEST_CASE("read_keys: the texts, and when they end", "[auth]") {
  auto keys = read(R"({"AccessKeyId":"A","SecretAccessKey":"S","Token":"T",)"
                   R"("Expiration":"2026-01-02T04:04:05Z","Extra":[1]})",
                   at);
  CHECK(keys->id == "A");
  CHECK(keys->secret == "S");
  CHECK(keys->session_token == "T");
  CHECK(keys->expires == test::some_time() + 1h);
  keys = read(R"({"AccessKeyId":"A","SecretAccessKey":"S","Token":null,"Expiration":null})", at);
  CHECK(keys->session_token.empty());
  CHECK(keys->expires == system_time::max());
  keys = read(R"({"AccessKeyId":"A","SecretAccessKey":"S","Expiration":1767323045000})", at);
  CHECK(keys->expires == test::some_time());
  keys =
      read(R"({"AccessKeyId":"A","SecretAccessKey":"S","Expiration":"9999-12-31T23:59:59Z"})", at);
  CHECK(keys->expires == system_time::max());
}

TEST_CASE("read_keys: their life counts from the reply's Date, whatever this clock says",
          "[auth]") {
  const auth::answer_time ahead{test::some_time() + 2h,
                                dataflux::parse_timestamp("2026-01-02T03:04:05Z")};
  const auto keys = read(
      R"({"AccessKeyId":"A","SecretAccessKey":"S","Expiration":"2026-01-02T04:04:05Z"})", ahead);
  CHECK(keys->expires == test::some_time() + 3h);
}

TEST_CASE("read_keys: clocks and ends that cannot be meant overflow nothing", "[auth]") {
  const auto end_at = [](const std::string& end, const std::string& served) {
    const auth::answer_time when{test::some_time(), dataflux::parse_timestamp(served)};
    return when.end(dataflux::parse_timestamp(end).value());
  };
  CHECK(end_at("1677-01-01T00:00:00Z", "2026-01-02T03:04:05Z") == system_time{});
  CHECK(end_at("2262-12-01T00:00:00Z", "2026-01-02T03:04:05Z") == system_time::max());
  for (const std::string served : {"1677-10-01T00:00:00Z", "2262-01-01T00:00:00Z"}) {
    CHECK(end_at("2026-01-02T04:04:05Z", served) == test::some_time() + 1h);
  }
}

TEST_CASE("read_keys: what is no key and no time is refused", "[auth]") {
  for (const std::string bad :
       {R"({})", R"([])", R"(7)", R"({"AccessKeyId":"A"})", R"({"SecretAccessKey":"S"})",
        R"({"AccessKeyId":1,"SecretAccessKey":"S"})", R"({"AccessKeyId":"A","SecretAccessKey":[]})",
        R"({"AccessKeyId":"A b","SecretAccessKey":"S"})",
        R"({"AccessKeyId":"A/b","SecretAccessKey":"S"})",
        R"({"AccessKeyId":"A\r\n","SecretAccessKey":"S"})",
        R"({"AccessKeyId":"A","SecretAccessKey":"S","Token":"T\n"})",
        R"({"AccessKeyId":"A","SecretAccessKey":"S","Token":true})",
        R"({"AccessKeyId":"A","SecretAccessKey":"S","Expiration":"2026-01-02T04:04:05"})",
        R"({"AccessKeyId":"A","SecretAccessKey":"S","Expiration":"soon"})",
        R"({"AccessKeyId":"A","SecretAccessKey":"S","Expiration":-1})",
        R"({"AccessKeyId":"A","SecretAccessKey":"S","Expiration":1e300})",
        R"({"AccessKeyId":"A","SecretAccessKey":"S","Expiration":{}})"}) {
    INFO(bad);
    CHECK_FALSE(read(bad, at));
  }
  const std::string longer(5000, 'k');
  CHECK_FALSE(auth::make_keys(longer, "S", ""));
  CHECK_FALSE(auth::make_keys("A", longer, ""));
  CHECK(auth::make_keys("A", "S", longer));
  CHECK_FALSE(auth::make_keys("A", "S", std::string(20000, 't')));
}

TEST_CASE("read_process_keys: version 1 alone", "[auth]") {
  const std::string good =
      R"({"Version":1,"AccessKeyId":"A","SecretAccessKey":"S","SessionToken":"T"})";
  CHECK(auth::read_process_keys(good, test::some_time())->session_token == "T");
  CHECK_FALSE(auth::read_process_keys(good.substr(1), test::some_time()));
  CHECK_FALSE(auth::read_process_keys(R"({"AccessKeyId":"A","SecretAccessKey":"S"})", {}));
  CHECK_FALSE(
      auth::read_process_keys(R"({"Version":2,"AccessKeyId":"A","SecretAccessKey":"S"})", {}));
  CHECK_FALSE(auth::read_process_keys(good + std::string(70000, ' '), {}));
}

TEST_CASE("read_role_keys: the XML of STS", "[auth]") {
  const auto document = [](const std::string& end) {
    return "<AssumeRoleResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
           "<AssumeRoleResult><AssumedRoleUser/><Credentials><AccessKeyId>ASIA</AccessKeyId>"
           "<SecretAccessKey>s/+</SecretAccessKey><SessionToken>t==</SessionToken><Expiration>" +
           end + "</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>";
  };
  const auto keys = auth::read_role_keys(document("2026-01-02T04:04:05Z"), "AssumeRole", at);
  CHECK(keys->id == "ASIA");
  CHECK(keys->secret == "s/+");
  CHECK(keys->session_token == "t==");
  CHECK(keys->expires == test::some_time() + 1h);
  CHECK_FALSE(auth::read_role_keys(document(""), "AssumeRole", at));
  CHECK_FALSE(auth::read_role_keys(document("2026-01-02T04:04:05Z"), "AssumeRoleWithSAML", at));
  CHECK_FALSE(auth::read_role_keys("<html>", "AssumeRole", at));
  const auto said = auth::read_sts_refusal(
      "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>no</Message>"
      "</Error></ErrorResponse>");
  CHECK(said.code == "AccessDenied");
  CHECK(said.message == "no");
  CHECK(auth::read_sts_refusal("<html><body/></html>").code.empty());
}

}  // namespace keys_reply_test
