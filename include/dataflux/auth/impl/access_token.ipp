#pragma once

#include <dataflux/auth/access_token.hpp>

#include <string>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE std::string credentials_facts::describe() const {
  std::string text = kind + " credentials";
  if (!path.empty()) text.append(" from ").append(path);
  return text;
}

}  // namespace dataflux::inline DATAFLUX_ABI
