#pragma once

#include <dataflux/auth/detail/token_flow.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

/// A fresh RSA key of 2048 bits, made once per program: PKCS#8 PEM of its private half.
const std::string& private_pem();
/// The same key in forms that a signer must refuse.
std::string encrypted_pem();
std::string short_rsa_pem();
std::string elliptic_pem();

/// A signed token, taken apart; nullopt unless the signature is right by the public half.
struct verified_jwt {
  std::string header;
  std::string claims;
};
std::optional<verified_jwt> verify_jwt(std::string_view token);

using fields = std::vector<std::pair<std::string, std::string>>;
/// A JSON object; values are JSON already.
std::string to_json(const fields& members);
/// `text` as a JSON string.
std::string json_quoted(std::string_view text);
/// A complete service account file, and one of a person.
fields service_account_file();
fields authorized_user_file();
/// One of a workload whose tokens a file has: /token.
fields external_account_file();
/// One of a person of a workforce pool.
fields external_user_file();
/// One that acts as target@p.iam.gserviceaccount.com by those.
fields impersonated_file(const fields& source);
/// The same with one value replaced, or removed if `value` is empty.
std::string with(fields members, std::string_view name, std::string_view value);

/// 2026-01-02T03:04:05Z, a whole second.
dataflux::system_time some_time();

/// A reply as the token endpoint gives it.
dataflux::detail::auth::flow_event reply(int status, std::string body, bool metadata = false);

}  // namespace test
