#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/store_conformance.hpp>

namespace conformance_test {

TEST_CASE("client: behaves as an object_store does, over a socket", "[integration]") {
  emulator::server server;
  server.create_bucket("conformance");
  auto client = dataflux::gcs::client::create({.endpoint = server.endpoint(), .emulator = true});
  REQUIRE(client);
  conformance::check_object_store(**client, "conformance", [] {});
}

}  // namespace conformance_test
