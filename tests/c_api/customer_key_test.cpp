#include <c_api/harness.hpp>
#include <support/temporary_folder.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace c_api_customer_key_test {

using namespace c_api_test;

namespace {

using key_bytes = std::array<std::uint8_t, 32>;

key_bytes key_of(std::uint8_t byte) {
  key_bytes key;
  key.fill(byte);
  return key;
}

client_ptr keyed(const world& w, const key_bytes& key) {
  auto o = w.options();
  o.encryption_key = key.data();
  return world::make_client(o);
}

dataflux_status stated(const client_ptr& by, const dataflux_object_options& o, told& why,
                       operation_ptr* kept = nullptr) {
  return outcome(
      [&](auto out, auto err) { return dataflux_stat(by.get(), &o, nullptr, 0, out, err); }, why,
      kept);
}

dataflux_status copied(const client_ptr& by, const dataflux_object_options& from,
                       const dataflux_object_options& to, told& why) {
  return outcome(
      [&](auto out, auto err) {
        return dataflux_copy(by.get(), &from, &to, nullptr, nullptr, 0, out, err);
      },
      why);
}

dataflux_status got(const client_ptr& by, const char* name, told& why) {
  const auto o = world::object(name);
  std::array<char, 16> memory{};
  return outcome(
      [&](auto out, auto err) {
        return dataflux_get_one(by.get(), &o, 0, memory.data(), 5, nullptr, 0, out, err);
      },
      why);
}

}  // namespace

TEST_CASE("encryption_key: of a client, and of the sides of a copy", "[c_api]") {
  const world w;
  const key_bytes key = key_of('k');
  const key_bytes second = key_of('s');
  const client_ptr mine = keyed(w, key);
  const client_ptr other = keyed(w, second);
  told why;
  REQUIRE(world::put(mine, "a", "bytes", why) == DATAFLUX_OK);
  CHECK(got(mine, "a", why) == DATAFLUX_OK);
  CHECK(got(w.client, "a", why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(got(other, "a", why) == DATAFLUX_INVALID_ARGUMENT);
  operation_ptr op;
  REQUIRE(stated(mine, world::object("a"), why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), "crc32c"));

  auto from = world::object("a");
  auto to = world::object("b");
  to.encryption_key = second.data();
  REQUIRE(copied(mine, from, to, why) == DATAFLUX_OK);
  CHECK(got(other, "b", why) == DATAFLUX_OK);
  to.encryption_key = nullptr;
  to.no_encryption_key = 1;
  from.encryption_key = key.data();
  REQUIRE(copied(other, from, to, why) == DATAFLUX_OK);
  CHECK(got(w.client, "b", why) == DATAFLUX_OK);
  from = world::object("b");
  from.no_encryption_key = 1;
  REQUIRE(copied(mine, from, world::object("c"), why) == DATAFLUX_OK);
  CHECK(got(mine, "c", why) == DATAFLUX_OK);
}

TEST_CASE("encryption_key: where there can be none", "[c_api]") {
  const world w;
  const key_bytes key = key_of('k');
  told why;
  auto o = world::object("a");
  o.encryption_key = key.data();
  CHECK(stated(w.client, o, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(has(why.text(), "dataflux_copy()"));
  o.no_encryption_key = 1;
  CHECK(copied(w.client, o, world::object("b"), why) == DATAFLUX_INVALID_ARGUMENT);
  auto client = w.options();
  client.encryption_key = key.data();
  client.endpoint = "http://192.0.2.1:80";
  CHECK(world::created(client, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(has(why.text(), "plain HTTP"));
  CHECK_FALSE(has(why.text(), "kkk"));
  client = w.options();
  client.encryption_key = key.data();
  client.emulator = 0;
  client.service = DATAFLUX_SERVICE_AIS;
  CHECK(world::created(client, why) == DATAFLUX_INVALID_ARGUMENT);
  const temporary_folder folder;
  dataflux_cache* cache = nullptr;
  REQUIRE(dataflux_cache_open(folder.path.c_str(), nullptr, &cache, why) == DATAFLUX_OK);
  client = w.options();
  client.encryption_key = key.data();
  client.cache = cache;
  CHECK(world::created(client, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(has(why.text(), "cache"));
  dataflux_cache_free(cache);
  CHECK(w.server.log().empty());
}

}  // namespace c_api_customer_key_test
