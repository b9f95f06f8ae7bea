#pragma once

#include <dataflux/result.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// The service keeps the key of an object, or is given it by the client or the request. Errors:
/// invalid_argument for both.
template <class Context, class Request>
result<void> check_one_key(const Context& context, const Request& r) {
  bool given = false;
  if constexpr (requires { context.key; }) given = context.key != nullptr;
  if constexpr (requires { r.key->empty(); }) {
    if (r.key) given = !r.key->empty();
  }
  if constexpr (requires { r.attributes.kms_key_name; }) {
    if (given && !r.attributes.kms_key_name.empty()) {
      return error{errc::invalid_argument,
                   "kms_key_name: the object is under the customer's own key (encryption_key), and "
                   "cannot be under another one"};
    }
  }
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
