#include <emulator/emulator.hpp>
#include <support/authority_file.hpp>
#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <filesystem>
#include <string>

#include "harness.hpp"

/// Clients that show a certificate, go another way than names say, and share their tokens.
namespace private_test {

using namespace c_api_test;

namespace {

struct fixture {
  fixture()
      : server({.tls = emulator::tls_mode::valid,
                .demands_certificate = true,
                .service = {.require_token = true}}) {
    server.put("bkt", "o", "12345");
  }
  dataflux_client_options options() const {
    dataflux_client_options o;
    dataflux_client_options_init(&o, sizeof o);
    o.endpoint = server.endpoint().c_str();
    o.ca_file = ca.path().c_str();
    o.credentials = DATAFLUX_CREDENTIALS_FILE;
    o.credentials_file = person.path().c_str();
    o.client_certificate_file = certificate.path().c_str();
    o.client_key_file = key.path().c_str();
    o.max_attempts = 1;
    return o;
  }
  emulator::server server;
  authority_file ca{server};
  authority_file certificate{server.client_pem()};
  authority_file key{server.client_key_pem()};
  authority_file person{user_of(server)};

 private:
  static std::string user_of(emulator::server& of) {
    std::string json = of.tokens().authorized_user_json();
    return json.insert(json.rfind('}'), ",\"token_uri\":\"" + of.endpoint() + "/token\"");
  }
};

std::string stat_by(const dataflux_client_options& o) {
  told why;
  dataflux_client* made = nullptr;
  if (dataflux_client_create(&o, &made, why) != DATAFLUX_OK) return why.message();
  const client_ptr client(made);
  const queue_ptr queue = make_queue();
  const auto object = world::object("o");
  REQUIRE(dataflux_stat(client.get(), &object, queue.get(), 1, nullptr, why) == DATAFLUX_OK);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  if (records[0].status == DATAFLUX_OK) return std::to_string(records[0].size);
  const error_ptr said(dataflux_queue_error(queue.get(), records[0].error));
  return dataflux_error_message(said.get());
}

}  // namespace

TEST_CASE("dataflux_client: a certificate, other ways, and a folder of tokens", "[c_api]") {
  const fixture f;
  const temporary_folder folder;
  const std::string path = folder.path.string();
  dataflux_client_options o = f.options();
  o.token_cache = path.c_str();
  CHECK(stat_by(o) == "5");
  CHECK_FALSE(std::filesystem::is_empty(folder.path));
  CHECK(stat_by(o) == "5");
  CHECK(f.server.counters().of("token") == 1);

  const std::string named = "https://127.0.0.1:" + std::to_string(f.server.port());
  o.endpoint = named.c_str();
  o.host = "localhost";
  CHECK(stat_by(o) == "5");
  const std::string place = "localhost:" + std::to_string(f.server.port());
  const std::string entries = "other.invalid:1:10.0.0.1  " + place + ":127.0.0.1";
  const std::string direct = "https://" + place;
  o.endpoint = direct.c_str();
  o.host = nullptr;
  o.resolve = entries.c_str();
  CHECK(stat_by(o) == "5");
}

TEST_CASE("dataflux_client: what cannot work is told by the option's name", "[c_api]") {
  const fixture f;
  dataflux_client_options o = f.options();
  o.resolve = "a:1";
  CHECK(stat_by(o) == "resolve: \"a:1\" is not of the form host:port:address[,address...]");
  o = f.options();
  o.proxy = "http://me:s3cret@p";
  CHECK(stat_by(o).starts_with("proxy: it is no URL of the form"));
  CHECK(stat_by(o).find("s3cret") == std::string::npos);
  o = f.options();
  o.proxy_ca_file = o.ca_file;
  CHECK(stat_by(o).starts_with("proxy_ca_file: "));
  o = f.options();
  o.host = "x";
  o.endpoint = nullptr;
  CHECK(stat_by(o).starts_with("host: "));
  o = f.options();
  o.client_key_file = nullptr;
  CHECK(stat_by(o) == "a client certificate needs its key, and vice versa");
  o = f.options();
  o.token_cache = "/dev/null";
  CHECK(stat_by(o).starts_with("the cache of tokens: "));
  for (const int service : {DATAFLUX_SERVICE_S3, DATAFLUX_SERVICE_AIS}) {
    dataflux_client_options_init(&o, sizeof o);
    o.service = static_cast<std::uint32_t>(service);
    o.token_cache = "/tmp";
    CHECK(stat_by(o).starts_with("token_cache is no option of a client of "));
    o.token_cache = nullptr;
    o.host = "x";
    CHECK(stat_by(o).starts_with("host is no option of a client of "));
  }
}

}  // namespace private_test
