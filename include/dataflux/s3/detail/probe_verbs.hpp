#pragma once

#include <dataflux/s3/detail/object_verbs.hpp>
#include <dataflux/s3/detail/target.hpp>
#include <dataflux/store/detail/validate.hpp>

#include <string>

/// Requests under an If-Match that no object has: a server that keeps conditions refuses them.
namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

struct probe_request {
  using value = void;

  std::string bucket{};
  std::string object{};
  call_limits limits{};
};
inline result<void> validate(const probe_request& r) {
  return validate(stat_request{.bucket = r.bucket, .object = r.object});
}

template <class Of, http::method Method>
struct probe_verb {
  using request = probe_request;
  using value = void;
  using state = no_state;

  static constexpr service::verb_info info{Of::info};
  static constexpr service::repeat_rule repeat{info.name, repeat_condition::always};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, false};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out) {
    begin(context, Method, r.bucket, r.object, out);
    out.headers.add("If-Match", "\"of-no-object\"");
  }
  static result<void> parse(const request&, const state&, const whole_reply&) { return {}; }
};

using probe_put_verb = probe_verb<insert_verb, http::method::put>;
using probe_remove_verb = probe_verb<remove_verb, http::method::del>;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
