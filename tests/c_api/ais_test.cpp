#include <c_api/saving.hpp>
#include <support/tar_bytes.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace c_api_ais_test {
// A client of AIStore by the ABI: what its options are, and calls that it has and lacks.

using namespace c_api_test;

namespace {

emulator::server_options serving_ais() {
  emulator::server_options o{.threads = 1};
  emulator::s3::options how;
  how.anonymous = true;
  o.service.s3 = how;
  o.service.aistore = true;
  o.service.ais_token = "TOKEN-0123456789";
  return o;
}

struct ais_world {
  ais_world() : server(serving_ais()) {
    server.create_bucket("bkt");
    client = world::make_client(options());
    told why;
    REQUIRE(dataflux_client_set_token(client.get(), "TOKEN-0123456789", 0, why) == DATAFLUX_OK);
  }
  dataflux_client_options options() const {
    dataflux_client_options o;
    dataflux_client_options_init(&o, sizeof o);
    o.service = DATAFLUX_SERVICE_AIS;
    o.endpoint = server.endpoint().c_str();
    o.credentials = DATAFLUX_CREDENTIALS_TOKEN;
    return o;
  }

  emulator::server server;
  client_ptr client{};
};

}  // namespace

TEST_CASE("dataflux_client of AIStore: objects are written, read and removed", "[c_api]") {
  ais_world w;
  told why;
  const auto status = world::put(w.client, "o/1", "first", why);
  INFO(why.text());
  REQUIRE(status == DATAFLUX_OK);
  const queue_ptr queue = make_queue();
  const auto o = world::object("o/1");
  REQUIRE(dataflux_get(w.client.get(), &o, 0, UINT64_MAX, queue.get(), 1, nullptr, why) ==
          DATAFLUX_OK);
  const auto got = next(queue);
  REQUIRE(got.size() == 1);
  CHECK(bytes_of(got[0]) == "first");
  release(got);
  CHECK(outcome([&](auto out,
                    auto err) { return dataflux_remove(w.client.get(), &o, nullptr, 0, out, err); },
                why) == DATAFLUX_OK);
  CHECK(outcome([&](auto out,
                    auto err) { return dataflux_stat(w.client.get(), &o, nullptr, 0, out, err); },
                why) == DATAFLUX_NOT_FOUND);
  CHECK(has(why.text(), " of ais://bkt/o/1"));
  CHECK(std::string_view(dataflux_error_scheme(why.get())) == "ais");
}

TEST_CASE("dataflux_client of AIStore: a member of an archive is read", "[c_api]") {
  ais_world w;
  told why;
  const std::string archive = dataflux::test::tar_of({{"d/a", "first"}, {"b", "second"}});
  REQUIRE(world::put(w.client, "x.tar", archive, why) == DATAFLUX_OK);
  const queue_ptr queue = make_queue();
  auto o = world::object("x.tar");
  const auto read = [&](const char* member, uint64_t offset) {
    o.member = member;
    REQUIRE(dataflux_get(w.client.get(), &o, offset, UINT64_MAX, queue.get(), 1, nullptr, why) ==
            DATAFLUX_OK);
    return next(queue);
  };
  const auto got = read("d/a", 0);
  CHECK(bytes_of(got[0]) == "first");
  CHECK((got[0].flags & DATAFLUX_RECORD_VERIFIED) == 0);
  release(got);
  CHECK(read("none", 0)[0].status == DATAFLUX_NOT_FOUND);
  CHECK(read("d/a", 1)[0].status == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_stat(w.client.get(), &o, queue.get(), 1, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(has(why.text(), "`member`"));
}

TEST_CASE("dataflux_client of AIStore: each option that is of another service is refused",
          "[c_api]") {
  const ais_world w;
  told why;
  const auto refused = [&](auto change, std::string_view word) {
    auto o = w.options();
    change(o);
    CHECK(world::created(o, why) == DATAFLUX_INVALID_ARGUMENT);
    INFO(why.text());
    CHECK(has(why.text(), word));
  };
  refused([](auto& o) { o.region = "r"; }, "region");
  refused([](auto& o) { o.access_key_id = "k"; }, "access_key_id");
  refused([](auto& o) { o.emulator = 1; }, "emulator");
  refused([](auto& o) { o.user_project = "p"; }, "user_project");
  refused([](auto& o) { o.credentials_file = "f"; }, "credentials_file");
  refused([](auto& o) { o.provider = "ftp"; }, "provider");
  refused([](auto& o) { o.endpoint = "http://192.0.2.1:1"; }, "plain HTTP");
  refused([](auto& o) { o.service = 3; }, "service");
  refused(
      [](auto& o) {
        o.service = DATAFLUX_SERVICE_S3;
        o.credentials = DATAFLUX_CREDENTIALS_ANONYMOUS;
        o.provider = "ais";
      },
      "provider");
  auto good = w.options();
  good.provider = "gs";
  CHECK(world::created(good, why) == DATAFLUX_OK);
}

}  // namespace c_api_ais_test
