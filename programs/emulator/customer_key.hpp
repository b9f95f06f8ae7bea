#pragma once

#include <emulator/message.hpp>
#include <emulator/stored_object.hpp>

#include <string>

/// Keys that callers send along (protocol.md 0.3). Nothing is encrypted here: an object only
/// remembers whose key it needs, and asks for it.
namespace emulator {

enum class key_role {
  own,          ///< of the object that is read or written
  copy_source,  ///< of the object that is copied
};

/// The SHA-256 of the key, as base64; empty when there is none. Throws service_error 400 when it is
/// not 32 bytes for AES256 with the digest that it is said to have.
std::string customer_key_of(const http_request& request, key_role role = key_role::own);

/// Throws service_error 400 unless the key that is needed is the one given; empty: none.
void require_key(const std::string& needed, const std::string& given);
inline void require_key(const stored_object& object, const std::string& given) {
  require_key(object.customer_key, given);
}

}  // namespace emulator
