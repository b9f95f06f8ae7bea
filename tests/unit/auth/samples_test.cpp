#include <dataflux/auth/credentials.hpp>
#include <dataflux/codec/detail/json.hpp>

#include <support/catch.hpp>
#include <support/vector_file.hpp>

#include "flow_play.hpp"
#include "scripted_environment.hpp"
#include "test_key.hpp"

/// What Google's own libraries read, read here: one table, which the judge of google-auth reads,
/// too.
namespace samples_test {

namespace codec = dataflux::detail::codec;

namespace {

std::string with_key(std::string json) {
  const std::string place = "\"@KEY@\"";
  const std::size_t at = json.find(place);
  if (at != std::string::npos) {
    json.replace(at, place.size(), test::json_quoted(test::private_pem()));
  }
  return json;
}

/// What a flow asks for first; empty when it asks nobody.
std::string first_request(const dataflux::credentials& credentials) {
  test::flow_play play({test::no_answer(false)});
  static_cast<void>(play(credentials));
  if (play.sent.empty()) return {};
  return std::string{to_string(play.sent[0].request.method)} + " " + play.where(0);
}

}  // namespace

TEST_CASE("samples: each kind of file is read as Google's libraries read it", "[auth]") {
  const std::string table = vector_file("credentials/samples.json");
  const auto document = codec::json_document::parse(dataflux::as_bytes(table)).value();
  int seen = 0;
  for (const codec::json_value& sample : document.root().elements()) {
    const auto text = [&sample](std::string_view field) {
      return std::string{sample.find(field).text().value_or("")};
    };
    INFO(text("name"));
    ++seen;
    test::scripted_environment machine("/home/u");
    machine.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "/f";
    machine.files["/f"] = with_key(sample.find("file").to_string());
    machine.files["/token"] = "subject";
    const auto found = dataflux::find_default_credentials({.universe_domain = ""}, machine);
    if (!text("error").empty()) {
      REQUIRE_FALSE(found);
      CHECK(to_string(found.error().code()) == text("error"));
      continue;
    }
    if (!found) FAIL(found.error().to_string());
    const dataflux::credentials_facts& facts = found->credentials->facts();
    CHECK(facts.kind == sample.find("file").find("type").text());
    CHECK(facts.project == text("project"));
    CHECK(facts.quota_project == text("quota_project"));
    CHECK(facts.universe_domain == text("universe"));
    CHECK(first_request(*found->credentials) == text("request"));
  }
  CHECK(seen >= 15);
}

}  // namespace samples_test
