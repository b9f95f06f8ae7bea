#pragma once

#include <dataflux/error.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>

#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The reason of an error of a call whose condition the server would not keep: nothing was sent.
inline constexpr std::string_view conditions_not_kept_reason{"ConditionsNotKept"};

/// A call's condition did not hold: something else is there than was expected.
inline bool is_unmet_condition(const error& why) noexcept {
  return (why.code() == errc::failed_precondition || why.code() == errc::already_exists) &&
         why.reason() != conditions_not_kept_reason;
}

/// Whether an upload of parts can be made to appear under a condition.
inline result<void> check_commits(const store_traits& store) {
  if (store.moves || store.conditional_complete) return {};
  error why{errc::failed_precondition,
            "this store can neither rename an object nor end an upload under a condition: what "
            "another program writes meanwhile would be lost. Checkpoints and uploads go to gs:// "
            "or s3://; an object that nobody else writes can go here by `put`"};
  return std::move(why.with_scheme(store.scheme));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
