#pragma once

#include <dataflux/gcs/detail/dialect.hpp>
#include <dataflux/gcs/detail/error_reply.hpp>
#include <dataflux/gcs/detail/head_facts.hpp>
#include <dataflux/gcs/detail/object_verbs.hpp>
#include <dataflux/gcs/detail/resource_writer.hpp>
#include <dataflux/store/detail/customer_key.hpp>
#include <dataflux/version.hpp>

#include <array>
#include <iterator>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

inline constexpr auto verb_names = [] {
  std::array<std::string_view, std::size(repeat_rules)> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = repeat_rules[i].verb;
  return names;
}();

/// Telemetry (protocol.md 0.3): one id per call, the same on all its attempts.
inline void add_api_client(const call_id& id, http::header_list& headers) {
  constexpr std::string_view start{"gl-cpp/20 gccl/" DATAFLUX_VERSION " gccl-invocation-id/"};
  call_id shown = id;  // a random UUID of RFC 9562
  shown[0] = (shown[0] & ~std::uint64_t{0xf000}) | 0x4000U;
  shown[1] = (shown[1] & ~(std::uint64_t{3} << 62U)) | (std::uint64_t{1} << 63U);
  const hexadecimal digits{shown};
  char text[start.size() + 36];
  char* at = text + start.copy(text, start.size());
  std::size_t from = 0;
  for (const std::size_t group : {8U, 4U, 4U, 4U, 12U}) {
    if (from != 0) *at++ = '-';
    at += digits.view().copy(at, group, from);
    from += group;
  }
  headers.add("x-goog-api-client", std::string_view{text, sizeof text});
}

DATAFLUX_INLINE std::span<const std::string_view> dialect::verbs() const noexcept {
  return verb_names;
}

DATAFLUX_INLINE std::string_view dialect::secret() const noexcept {
  return how_.key.empty() ? std::string_view{} : how_.key.held()->secret();
}

DATAFLUX_INLINE bool dialect::trusts(const http::request& request) const noexcept {
  return request.origin == where_.origin() || request.origin == how_.iam.origin;
}

DATAFLUX_INLINE void dialect::add_fields(const call_id& id, http::header_list& headers) const {
  add_api_client(id, headers);
}

DATAFLUX_INLINE void dialect::gather_facts(const http::reply_head& head,
                                           service::reply_facts& out) const {
  gcs::gather_facts(head, out);
}

DATAFLUX_INLINE error dialect::parse_error(const service::call_identity& call,
                                           const service::reply_facts& facts, bytes_view body,
                                           std::span<const std::string_view> secrets) const {
  return gcs::parse_error(call, facts, body, secrets);
}

DATAFLUX_INLINE std::string dialect::not_the_service(std::string_view what) const {
  return gcs::not_the_service(what);
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

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
