#include <dataflux/detail/unique_name.hpp>

#include <support/catch.hpp>

namespace unique_name_test {

TEST_CASE("unique_name: a hash that never changes", "[core]") {
  // FNV-1a's own test vectors.
  CHECK(dataflux::detail::hashed_name("p-", "") == "p-cbf29ce484222325");
  CHECK(dataflux::detail::hashed_name("", "a") == "af63dc4c8601ec8c");
  CHECK(dataflux::detail::hashed_name("", "foobar") == "85944171f73967e8");
}

TEST_CASE("unique_name: two draws differ", "[core]") {
  CHECK(dataflux::detail::system_entropy::bits() != dataflux::detail::system_entropy::bits());
}

}  // namespace unique_name_test
