#include <dataflux/auth/detail/rsa_signer.hpp>

#include <support/catch.hpp>

#include "test_key.hpp"

namespace rsa_signer_test {

using dataflux::errc;
using dataflux::detail::auth::rsa_signer;

TEST_CASE("rsa_signer: signs, and the public half agrees", "[auth]") {
  auto signer = rsa_signer::from_pem(test::private_pem());
  REQUIRE(signer);
  const std::string signature = signer->sign_sha256("text").value();
  CHECK(signature.size() == 256);
  CHECK(signature == signer->sign_sha256("text").value());
  CHECK(signature != signer->sign_sha256("other").value());
}

TEST_CASE("rsa_signer: refuses what is no usable key, and says why", "[auth]") {
  const auto refused = [](std::string_view pem) {
    const auto signer = rsa_signer::from_pem(pem);
    if (signer) return std::string{"accepted"};
    CHECK(signer.error().code() == errc::invalid_argument);
    return signer.error().message();
  };
  const std::string unreadable = "the private key is not a readable, unencrypted PEM key";
  CHECK(refused("") == unreadable);
  CHECK(refused("no key") == unreadable);
  CHECK(refused(test::private_pem().substr(0, 400)) == unreadable);
  CHECK(refused(test::encrypted_pem()) == unreadable);
  CHECK(refused(test::elliptic_pem()) == "the private key is not an RSA key");
  CHECK(refused(test::short_rsa_pem()) == "the private key is shorter than 2048 bits");
  CHECK(refused(std::string(100'000, 'x')) == "the private key is too long to be one");
}

TEST_CASE("rsa_signer: a key with one damaged character never signs wrongly", "[auth]") {
  const std::string& pem = test::private_pem();
  int refused = 0;
  for (std::size_t at = 100; at < pem.size() - 60; at += 97) {
    std::string damaged = pem;
    damaged[at] = damaged[at] == 'A' ? 'B' : 'A';
    if (damaged == pem) continue;
    auto signer = rsa_signer::from_pem(damaged);
    if (!signer) {
      ++refused;
      continue;
    }
    // OpenSSL signs without the numbers that only make it faster if they are damaged.
    const auto good = rsa_signer::from_pem(pem);
    CHECK(signer->sign_sha256("t").value() == good->sign_sha256("t").value());
  }
  CHECK(refused > 0);
}

}  // namespace rsa_signer_test
