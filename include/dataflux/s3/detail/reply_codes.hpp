#pragma once

#include <dataflux/error.hpp>
#include <dataflux/http/detail/retry.hpp>

#include <optional>
#include <span>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// What one of the service's codes says, where it says more than the status.
struct reply_code {
  std::string_view code;
  errc means;
  /// For a repetition; nothing = as its status.
  std::optional<http::reply_class> repeat{};
  /// What to do, for a person; may be empty.
  std::string_view advice{};
};

/// All that are known. A test repeats each.
std::span<const reply_code> reply_codes() noexcept;

/// Null for a code that is not known. "Throttling..." is one, whatever follows.
const reply_code* find_reply_code(std::string_view code) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/reply_codes.ipp>
#endif
