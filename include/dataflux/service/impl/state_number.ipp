#pragma once

#include <dataflux/auth/detail/sha256.hpp>
#include <dataflux/service/detail/state_number.hpp>

#include <cstddef>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

DATAFLUX_INLINE std::int64_t state_number(std::string_view name) {
  if (name.empty()) return 0;
  const auto digest = auth::sha256_of(name);
  if (!digest) return 0;  // a state that nobody can name
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8U | (*digest)[i];
  number &= ~(std::uint64_t{1} << 63U);
  return number == 0 ? 1 : static_cast<std::int64_t>(number);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
