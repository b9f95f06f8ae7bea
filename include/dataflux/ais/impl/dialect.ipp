#pragma once

#include <dataflux/ais/detail/dialect.hpp>
#include <dataflux/ais/detail/error_reply.hpp>
#include <dataflux/ais/detail/object_verbs.hpp>

#include <array>
#include <iterator>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

inline constexpr auto verb_names = [] {
  std::array<std::string_view, std::size(repeat_rules)> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = repeat_rules[i].verb;
  return names;
}();

DATAFLUX_INLINE std::span<const std::string_view> dialect::verbs() const noexcept {
  return verb_names;
}

DATAFLUX_INLINE bool dialect::trusts(const http::request& request) const noexcept {
  return request.origin != nullptr && where_.may_learn_token(*request.origin);
}

DATAFLUX_INLINE void dialect::gather_facts(const http::reply_head& head,
                                           service::reply_facts& out) const {
  ais::gather_facts(head, out);
}

DATAFLUX_INLINE error dialect::parse_error(const service::call_identity& call,
                                           const service::reply_facts& facts, bytes_view body,
                                           std::span<const std::string_view> secrets) const {
  return ais::parse_error(call, facts, body, secrets);
}

DATAFLUX_INLINE http::reply_class dialect::classify(const service::call_identity&, int http_status,
                                                    std::string_view reason) const {
  return ais::classify(http_status, reason);
}

DATAFLUX_INLINE std::optional<http::url> dialect::redirect_of(
    const service::reply_facts& facts) const {
  return ais::redirect_of(facts);
}

DATAFLUX_INLINE bool dialect::holds_back(const http::request& request) const noexcept {
  return request.method == http::method::put && request.body.size() > 0;
}

DATAFLUX_INLINE std::string dialect::not_the_service(std::string_view what) const {
  return ais::not_the_service(what);
}

DATAFLUX_INLINE void dialect::look(ref<service::client_core> core, const stat_request& at,
                                   object_store::completion<service::looked_object> done,
                                   scheduler& executor) const {
  verb_call<look_verb>::start(std::move(core), at, std::move(done), &executor);
}

DATAFLUX_INLINE void dialect::remove(ref<service::client_core> core, const remove_request& what,
                                     object_store::completion<void> done,
                                     scheduler& executor) const {
  verb_call<remove_verb>::start(std::move(core), what, std::move(done), &executor);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais
