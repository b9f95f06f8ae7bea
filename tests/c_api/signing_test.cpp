#include <c_api/harness.hpp>
#include <support/temporary_folder.hpp>

#include <array>
#include <cstdint>
#include <fstream>
#include <string>

namespace c_api_signing_test {

using namespace c_api_test;

namespace {

dataflux_sign_options object(const char* name) {
  dataflux_sign_options o;
  dataflux_sign_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.object = name;
  return o;
}

dataflux_status signed_url(const client_ptr& client, const dataflux_sign_options& o,
                           const dataflux_signed_request* r, told& why,
                           operation_ptr* kept = nullptr) {
  return outcome(
      [&](auto out, auto err) {
        return dataflux_sign_url(client.get(), &o, r, nullptr, 0, out, err);
      },
      why, kept);
}

dataflux_status signed_form(const client_ptr& client, const dataflux_sign_options& o,
                            const std::array<const char*, 2>& pair,
                            const dataflux_form_condition& condition, told& why,
                            operation_ptr* kept = nullptr) {
  return outcome(
      [&](auto out, auto err) {
        return dataflux_sign_form(client.get(), &o, pair.data(), pair.data() + 1, 1, &condition, 1,
                                  nullptr, 0, out, err);
      },
      why, kept);
}

/// A client with the key of the emulator's own account.
client_ptr robot(const world& w, const temporary_folder& folder) {
  const std::string path = folder.path / "key.json";
  std::ofstream(path) << w.server.service_account_json();
  auto o = w.options();
  o.credentials = DATAFLUX_CREDENTIALS_FILE;
  o.credentials_file = path.c_str();
  o.tokens_to_emulator = 1;
  return world::make_client(o);
}

}  // namespace

TEST_CASE("dataflux_sign_url: a URL and its end", "[c_api]") {
  const world w;
  const temporary_folder folder;
  const client_ptr client = robot(w, folder);
  auto o = object("a b");
  o.life_ns = std::int64_t{60'000'000'000};
  o.generation = 17;
  const std::array name{"x-k"};
  const std::array value{"v"};
  const std::array parameter{"response-content-type"};
  const std::array type{"text/plain"};
  dataflux_signed_request r;
  dataflux_signed_request_init(&r, sizeof r);
  r.method = "PUT";
  r.header_names = name.data();
  r.header_values = value.data();
  r.header_count = 1;
  r.parameter_names = parameter.data();
  r.parameter_values = type.data();
  r.parameter_count = 1;
  told why;
  operation_ptr op;
  REQUIRE(signed_url(client, o, &r, why, &op) == DATAFLUX_OK);
  const std::string json = json_of(op);
  INFO(json);
  CHECK(has(json, R"({"url":")" + w.server.endpoint() + "/bkt/a%20b?X-Goog-Algorithm=GOOG4-RSA"));
  CHECK(has(json,
            "&X-Goog-Expires=60&X-Goog-SignedHeaders=host%3Bx-k&generation=17&"
            "response-content-type=text%2Fplain&X-Goog-Signature="));
  CHECK(has(json, R"(","expires":"20)"));
  CHECK(signed_url(client, object(nullptr), nullptr, why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), "/bkt?X-Goog-Algorithm="));
  CHECK(w.server.log().empty());
}

TEST_CASE("dataflux_sign_form: where it goes, and its fields in order", "[c_api]") {
  const world w;
  auto o = object("in/${filename}");
  o.access_key_id = "GOOG1";
  o.secret_access_key = "secret";
  told why;
  operation_ptr op;
  const dataflux_form_condition size{nullptr, nullptr, 1, 9, DATAFLUX_FORM_SIZE, 0};
  REQUIRE(signed_form(w.client, o, {"content-type", "a/b"}, size, why, &op) == DATAFLUX_OK);
  const std::string json = json_of(op);
  INFO(json);
  CHECK(has(json, R"({"url":")" + w.server.endpoint() +
                      R"(/bkt/","fields":[["key","in/${filename}"],)" +
                      R"(["content-type","a/b"],["x-goog-date",")"));
  CHECK(has(json, R"(["x-goog-algorithm","GOOG4-HMAC-SHA256"],["policy",")"));
}

TEST_CASE("dataflux_sign_url: bad input", "[c_api]") {
  const world w;
  told why;
  auto o = object("o");
  CHECK(signed_url(w.client, o, nullptr, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(has(why.text(), "HMAC key"));
  const auto refused = [&](const dataflux_sign_options& bad, const dataflux_signed_request* r) {
    CHECK(signed_url(w.client, bad, r, why) == DATAFLUX_INVALID_ARGUMENT);
    return why.text();
  };
  o.bucket = nullptr;
  CHECK(has(refused(o, nullptr), "bucket is NULL"));
  o = object("o");
  o.style = 3;
  CHECK(has(refused(o, nullptr), "DATAFLUX_URL"));
  o = object("o");
  o.life_ns = std::int64_t{1} << 60U;
  CHECK(has(refused(o, nullptr), "7 days"));
  o = object("o");
  dataflux_signed_request r;
  dataflux_signed_request_init(&r, sizeof r);
  r.header_count = 1;
  CHECK(has(refused(o, &r), "header_names"));
  const std::array<const char*, 1> none{nullptr};
  r.header_names = r.header_values = none.data();
  CHECK(has(refused(o, &r), "header_names"));
  r.header_count = 0;
  r.parameter_count = 1;
  CHECK(has(refused(o, &r), "parameter_names"));
  const dataflux_form_condition odd{"f", "v", 0, 0, 3, 0};
  CHECK(signed_form(w.client, o, {"a", "b"}, odd, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(has(why.text(), "DATAFLUX_FORM"));
  o.generation = 1;
  CHECK(signed_form(w.client, o, {"a", "b"}, odd, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(has(why.text(), "generation"));
  CHECK(w.server.log().empty());
}

}  // namespace c_api_signing_test
