#pragma once

#include <dataflux/result.hpp>
#include <dataflux/s3/detail/object_fields.hpp>
#include <dataflux/s3/detail/verb.hpp>
#include <dataflux/service/detail/dialect.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/requests.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// The verbs of S3 for one object: stat, insert, remove (s3-protocol.md 3.1, 3.2, 3.4). Their
/// common shape is in service/detail/verb.hpp.
namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// The object must still be in that state, or still not be there.
template <class Request>
bool pin_generation(Request& r, const object_metadata* found) {
  r.conditions.if_generation_match = found != nullptr ? found->generation : 0;
  return true;
}

/// What the head of a reply said.
struct stat_state {
  result<object_metadata> found{std::in_place};
};

/// HEAD, with checksums. The metadata are in the head; the body is none, of errors neither.
struct stat_verb {
  using request = stat_request;
  using value = object_metadata;
  using state = stat_state;

  static constexpr service::verb_info info{"HeadObject", pacing_class::metadata, billing_class::b};
  static constexpr service::repeat_rule repeat{info.name, repeat_condition::always};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, r.generation, false};
  }
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  static void read_head(const http::request&, const http::reply_head& head, state& into);
  /// Errors: as read_object_head() and check_found().
  static result<value> parse(const request& r, const state& read, const whole_reply& reply);
};

/// A stat by a write, which asks for the time, too.
struct look_verb {
  using request = stat_request;
  using value = service::looked_object;
  using state = stat_state;

  static constexpr service::verb_info info{stat_verb::info};
  static constexpr service::repeat_rule repeat{stat_verb::repeat};

  static call_identity identity(const request& r) noexcept { return stat_verb::identity(r); }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state& none,
                    http::request& out) {
    stat_verb::build(context, r, none, out);
  }
  static void read_head(const http::request& sent, const http::reply_head& head, state& into) {
    stat_verb::read_head(sent, head, into);
  }
  static result<value> parse(const request& r, const state& read, const whole_reply& reply);
};

/// The checksum of an insert's data, the mark that the object gets, and the tag it must have now.
struct insert_state {
  std::uint32_t crc32c{0};
  std::string mark{};
  known_tag tag{};
};

/// PUT with the data's CRC32C, which the server compares before it stores them (400 BadDigest). The
/// condition that the object is in a state takes a HEAD first, since S3 knows states by their
/// ETags: see known_tag. At most 5 GiB.
struct insert_verb {
  using request = insert_request;
  using value = object_metadata;
  using state = insert_state;

  static constexpr service::verb_info info{"PutObject", pacing_class::write, billing_class::a};
  static constexpr service::repeat_rule repeat{info.name,
                                               repeat_condition::generation_match,
                                               repeat_meaning::failed,
                                               repeat_meaning::compare,
                                               true,
                                               last_writer_replaces};
  static constexpr bool damage_is_repeated = true;

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, r.conditions.if_generation_match == 0};
  }
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request& r, const call_id& id);
  static void build(const call_context& context, const request& r, const state& s,
                    http::request& out);
  /// Errors: as stored_object() and known_tag::take().
  static result<std::optional<value>> parse(const request& r, state& s, const whole_reply& reply);
  /// The bytes that were sent, with this call's mark.
  static bool is_ours(const request& r, const state& s, const object_metadata& found);
  static bool pin(request& r, const object_metadata* object, const object_metadata*) {
    return pin_generation(r, object);
  }
};

/// DELETE. Success also where nothing was there. A generation is asked for as insert_verb does; in
/// a bucket with versions what was there stays as one.
struct remove_verb {
  using request = remove_request;
  using value = void;
  using state = known_tag;

  static constexpr service::verb_info info{"DeleteObject", pacing_class::write,
                                           billing_class::free};
  static constexpr service::repeat_rule repeat{
      info.name, repeat_condition::generation, repeat_meaning::done, repeat_meaning::done,
      false,     last_writer_removes};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, r.generation, false};
  }
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state& tag,
                    http::request& out);
  /// 204, or any other 2xx. Nothing for the reply to the HEAD before it.
  static result<std::optional<service::no_state>> parse(const request& r, state& tag,
                                                        const whole_reply& reply);
  static bool pin(request& r, const object_metadata* object, const object_metadata*) {
    return pin_generation(r, object);
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/object_verbs.ipp>
#endif
