#pragma once

#include <dataflux/detail/config.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// In every option 0 is the default that its comment names, as it is in the C ABI. What
/// has no bound is asked for by the largest value of the type.
template <class T>
constexpr T or_default(T value, T usual) noexcept {
  return value == T{} ? usual : value;
}

/// The options with the defaults of these members where they are 0.
template <auto... Members, class Options>
Options with_defaults(Options given) {
  const Options usual;
  ((given.*Members = or_default(given.*Members, usual.*Members)), ...);
  return given;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
