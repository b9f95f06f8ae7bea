#pragma once

#include <dataflux/s3/detail/copy_verb.hpp>
#include <dataflux/s3/detail/multipart_verbs.hpp>
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

/// The end of an upload.
struct probe_complete_verb : multipart_complete_verb {
  static void build(const call_context& context, const request& r, const state& s,
                    http::request& out) {
    multipart_complete_verb::build(context, r, s, out);
    out.headers.add("If-Match", "\"of-no-object\"");
  }
};

/// A copy, or under the request's own condition. Never repeated: onto itself nobody could tell a
/// second attempt that is refused from one whose condition is.
struct probe_copy_verb : copy_verb {
  static constexpr service::repeat_rule repeat{
      info.name, repeat_condition::never, repeat_meaning::failed, repeat_meaning::failed,
      false,     last_writer_replaces};
  static void build(const call_context& context, const request& r, const state& s,
                    http::request& out) {
    copy_verb::build(context, r, s, out);
    if (s.source && !r.conditions.any()) out.headers.add("If-Match", "\"of-no-object\"");
  }
};

using probe_put_verb = probe_verb<insert_verb, http::method::put>;
using probe_remove_verb = probe_verb<remove_verb, http::method::del>;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
