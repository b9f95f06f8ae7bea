#pragma once

#include <dataflux/auth/detail/token_flow.hpp>

namespace dataflux::inline DATAFLUX_ABI::auth {

DATAFLUX_INLINE std::string credentials_facts::describe() const {
  std::string text = kind + " credentials";
  if (!path.empty()) text.append(" from ").append(path);
  return text;
}

}  // namespace dataflux::inline DATAFLUX_ABI::auth
