#include <emulator/digest.hpp>
#include <emulator/s3/access_keys.hpp>
#include <emulator/v4.hpp>

#include <random>
#include <utility>

namespace emulator::s3 {

void access_keys::add(std::string id, access_key key) {
  const std::lock_guard lock{mutex_};
  keys_.insert_or_assign(std::move(id), std::move(key));
}

std::optional<access_key> access_keys::find(std::string_view id) const {
  const std::lock_guard lock{mutex_};
  const auto at = keys_.find(id);
  if (at == keys_.end()) return std::nullopt;
  return at->second;
}

std::string access_keys::signing_key(std::string_view secret, const std::string& scope) const {
  const std::string place = std::string{secret} + "\n" + scope;
  {
    const std::lock_guard lock{mutex_};
    const auto at = derived_.find(place);
    if (at != derived_.end()) return at->second;
  }
  std::string fresh = v4_signing_key("AWS4", secret, scope);
  const std::lock_guard lock{mutex_};
  // Scopes are the clients' to choose.
  if (derived_.size() >= 64) derived_.clear();
  derived_.insert_or_assign(place, fresh);
  return fresh;
}

std::string access_keys::issue(std::chrono::seconds lifetime) {
  std::random_device source;
  std::string raw;
  for (int i = 0; i < 30; ++i) raw += static_cast<char>(source() & 0xff);
  const std::lock_guard lock{mutex_};
  const std::string number = std::to_string(++issued_);
  std::string id = "ASIAEMULATOR";
  id.append(number.size() < 8 ? 8 - number.size() : 0, '0').append(number);
  keys_.insert_or_assign(id, access_key{.secret = base64_encode(raw),
                                        .session_token = base64_encode("session " + raw),
                                        .expires = std::chrono::system_clock::now() + lifetime});
  return id;
}

void access_keys::revoke_sessions() {
  const std::lock_guard lock{mutex_};
  for (auto& [id, key] : keys_) key.revoked = key.revoked || !key.session_token.empty();
}

}  // namespace emulator::s3
