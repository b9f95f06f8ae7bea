#pragma once

#include <dataflux/error.hpp>

#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The reason of an error of a call whose condition the server would not keep: nothing was sent.
inline constexpr std::string_view conditions_not_kept_reason{"ConditionsNotKept"};

/// A call's condition did not hold: something else is there than was expected.
inline bool is_unmet_condition(const error& why) noexcept {
  return (why.code() == errc::failed_precondition || why.code() == errc::already_exists) &&
         why.reason() != conditions_not_kept_reason;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
