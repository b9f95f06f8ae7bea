#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/auth/detail/signing_identity.hpp>

#include <string>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE std::string credentials_facts::describe() const {
  std::string text = kind + " credentials";
  if (!path.empty()) text.append(" from ").append(path);
  return text;
}

DATAFLUX_INLINE detail::auth::signing_identity credentials::signs_as() const { return {}; }

}  // namespace dataflux::inline DATAFLUX_ABI
