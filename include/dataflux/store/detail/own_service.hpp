#pragma once

#include <dataflux/codec/detail/json.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

/// Files about the objects of one service: manifests, indexes of shards. Their descriptions say
/// which one by store_traits::scheme.
namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::string_view usual_scheme{"gs"};

/// What may stand before "://": up to 16 lower-case letters and digits.
inline bool is_scheme(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 16 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
}

/// Of a description; nothing where it is none. What does not say it is of a time when there was one
/// service alone.
inline std::optional<std::string> scheme_in(const codec::json_value& description) {
  const codec::json_value member = description.find("scheme");
  if (!member) return std::string{usual_scheme};
  const auto text = member.text();
  if (!text || !is_scheme(*text)) return std::nullopt;
  return std::string{*text};
}

/// Refuses a file that is not about objects of that store; `what` is its noun.
/// Errors: invalid_argument.
inline result<void> check_own_service(const object_store& store, std::string_view scheme,
                                      std::string_view what) {
  const std::string_view own = store.traits().scheme;
  if (scheme == own) return {};
  std::string message{"the "};
  message.append(what).append(" is of ").append(scheme).append(":// and the client of ");
  message.append(own).append("://: give it to a client of its own service");
  return error{errc::invalid_argument, std::move(message)};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
