#include <dataflux/store/detail/customer_key.hpp>
#include <dataflux/store/encryption_key.hpp>

#include <support/catch.hpp>

#include <string>
#include <utility>

namespace encryption_key_test {

using dataflux::as_bytes;
using dataflux::encryption_key;
using dataflux::errc;
namespace detail = dataflux::detail;

TEST_CASE("encryption_key: 32 bytes in the forms in which requests carry them", "[store]") {
  const std::string bytes(32, 'k');
  const auto key = encryption_key::from_bytes(as_bytes(bytes)).value();
  CHECK_FALSE(key.empty());
  CHECK(key.held()->base64 == "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=");
  // By Python's hashlib.
  CHECK(key.held()->sha256 == "XjGPjPnL4kmjCBK4yhMtaR3tepGZFBNVjbV1hXX14B8=");
  CHECK(key.held()->md5 == "mT2HRsMGJ5IX5C+0rreZ8Q==");
  CHECK(key.held()->secret() == bytes);
  CHECK(encryption_key::from_base64(key.held()->base64).value() == key);
  CHECK(encryption_key::from_bytes(as_bytes(std::string(32, 'l'))).value() != key);
  const encryption_key none;
  CHECK((none.empty() && none.held() == nullptr && none == encryption_key() && none != key));
  const encryption_key copy = key;  // shares the bytes
  CHECK(copy.held() == key.held());
}

TEST_CASE("encryption_key: what is no key is refused, and not shown", "[store]") {
  for (const std::size_t size : {0U, 31U, 33U, 64U}) {
    const auto made = encryption_key::from_bytes(as_bytes(std::string(size, 'S')));
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == errc::invalid_argument);
    CHECK(made.error().message().find("SS") == std::string::npos);
  }
  for (const char* text :
       {"", "SSSS", "not base64", "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s"}) {
    const auto made = encryption_key::from_base64(text);
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == errc::invalid_argument);
    CHECK(made.error().message().find("SS") == std::string::npos);
  }
}

TEST_CASE("encryption_key: goes over TLS, or nowhere but to this machine", "[store]") {
  const auto key = encryption_key::from_bytes(as_bytes(std::string(32, 'k'))).value();
  using detail::http::origin;
  CHECK(detail::check_key_place(key, origin{.host = "h"}));
  CHECK(detail::check_key_place(key, origin{.tls = false, .host = "127.0.0.1", .port = 80}));
  CHECK(detail::check_key_place({}, origin{.tls = false, .host = "h", .port = 80}));
  const auto refused = detail::check_key_place(key, origin{.tls = false, .host = "h", .port = 80});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message().find("kkk") == std::string::npos);
}

}  // namespace encryption_key_test
