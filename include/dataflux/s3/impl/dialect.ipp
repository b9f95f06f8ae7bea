#pragma once

#include <dataflux/exec/detail/call_clock.hpp>
#include <dataflux/s3/detail/dialect.hpp>
#include <dataflux/s3/detail/error_reply.hpp>
#include <dataflux/s3/detail/head_facts.hpp>
#include <dataflux/s3/detail/object_verbs.hpp>
#include <dataflux/store/detail/reserved_prefixes.hpp>

#include <array>
#include <iterator>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

inline constexpr auto verb_names = [] {
  std::array<std::string_view, std::size(repeat_rules)> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = repeat_rules[i].verb;
  return names;
}();

DATAFLUX_INLINE std::span<const std::string_view> dialect::verbs() const noexcept {
  return verb_names;
}

DATAFLUX_INLINE bool dialect::trusts(const http::request& request) const noexcept {
  return request.origin != nullptr && endpoint().owns(*request.origin);
}

/// The service asks for none.
DATAFLUX_INLINE void dialect::add_fields(const call_id&, http::header_list&) const {}

DATAFLUX_INLINE void dialect::gather_facts(const http::reply_head& head,
                                           service::reply_facts& out) const {
  s3::gather_facts(head, out);
}

DATAFLUX_INLINE error dialect::parse_error(const service::call_identity& call,
                                           const service::reply_facts& facts, bytes_view body,
                                           std::span<const std::string_view> secrets) const {
  return s3::parse_error(call, facts, body, secrets);
}

DATAFLUX_INLINE http::reply_class dialect::classify(const service::call_identity& call,
                                                    int http_status,
                                                    std::string_view reason) const {
  return s3::classify(call, http_status, reason);
}

DATAFLUX_INLINE std::string dialect::region_of(std::string_view bucket) const {
  const auto place = places_.find(bucket);
  return place ? (*place)->region : places_.usual_region();
}

DATAFLUX_INLINE bool dialect::moved(const service::call_identity& call,
                                    const service::reply_facts& facts, bytes_view body) const {
  const std::string region = region_told(facts, body);
  return !region.empty() && places_.learn(call.bucket, region);
}

/// What is refused for a HEAD is refused for a GET, before anybody looks for its bytes.
DATAFLUX_INLINE void dialect::ask_why(const service::call_identity& call,
                                      http::request& request) const {
  request.method = http::method::get;
  if (call.object.empty()) {
    request.target.append("?list-type=2&max-keys=0");
  } else {
    request.headers.add("Range", "bytes=0-0");
  }
}

DATAFLUX_INLINE std::string dialect::not_the_service(std::string_view what) const {
  return s3::not_the_service(what);
}

DATAFLUX_INLINE void dialect::look(ref<service::client_core> core, const stat_request& at,
                                   object_store::completion<service::looked_object> done,
                                   scheduler& executor) const {
  verb_call<look_verb>::start(std::move(core), at, std::move(done), &executor);
}

DATAFLUX_INLINE void dialect::remove(ref<service::client_core> core, const remove_request& what,
                                     object_store::completion<void> done,
                                     scheduler& executor) const {
  // The removal of the question's own object must not wait for the answer.
  if (!how_.asks_for_conditions || is_condition_scratch_name(what.object)) {
    return verb_call<remove_verb>::start(std::move(core), what, std::move(done), &executor);
  }
  const call_clock clock(executor, what.limits);
  auto answered = [core, what = remove_request(what), clock, done = std::move(done),
                   &executor](const result<kept_conditions>& known) mutable {
    if (!known) return done(known.error());
    if (!*known->removals) return done(not_kept(true));
    what.limits = clock.limits(what.limits.stop);
    verb_call<remove_verb>::start(std::move(core), what, std::move(done), &executor);
  };
  if (auto known = conditions_.find(what.bucket, &kept_conditions::removals)) {
    return answered(*std::move(known));
  }
  conditions_.ask({.core = std::move(core),
                   .bucket = what.bucket,
                   .object = what.object,
                   .about = &kept_conditions::removals,
                   .on = executor,
                   .limits = what.limits},
                  std::move(answered));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
