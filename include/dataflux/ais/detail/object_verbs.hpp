#pragma once

#include <dataflux/ais/detail/object_state.hpp>
#include <dataflux/ais/detail/verb.hpp>
#include <dataflux/result.hpp>
#include <dataflux/service/detail/dialect.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/requests.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

/// The verbs of AIStore for one object: stat, insert, remove (s3-protocol.md 8.2). Their common
/// shape is in service/detail/verb.hpp.
namespace dataflux::inline DATAFLUX_ABI::detail::ais {

/// What the head of a reply said.
struct stat_state {
  result<object_metadata> found{std::in_place};
};

/// HEAD.
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
  /// Errors: as service::check_found(); internal for a head that is of no object.
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

/// The checksums of an insert's data, and what the reply says of what was stored.
struct insert_state {
  std::uint32_t crc32c{0};
  std::uint64_t xxhash{0};
  told_checksum stored{};
};

/// PUT with the data's xxhash2, which the server compares before it stores them, unless its bucket
/// has checksums of another kind. No condition holds here: what was there is replaced.
struct insert_verb {
  using request = insert_request;
  using value = object_metadata;
  using state = insert_state;

  static constexpr service::verb_info info{"PutObject", pacing_class::write, billing_class::a};
  static constexpr service::repeat_rule repeat{
      info.name, repeat_condition::never,      repeat_meaning::failed, repeat_meaning::failed,
      true,      service::last_writer_replaces};
  static constexpr bool damage_is_repeated = true;

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, false};
  }
  /// Errors: unimplemented for conditions and for attributes, which the service does not keep.
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request& r, const call_id& id);
  static void build(const call_context& context, const request& r, const state& s,
                    http::request& out);
  static void read_head(const http::request&, const http::reply_head& head, state& into);
  /// Its crc32c is nothing where the service told no checksum that could be compared. Errors:
  /// data_loss for another one than of what was sent.
  static result<value> parse(const request& r, const state& s, const whole_reply& reply);
  /// The bytes that were sent, as far as the service's checksum tells.
  static bool is_ours(const request& r, const state& s, const object_metadata& found);
  /// Nothing can be made a condition; but where nothing is there is nothing to keep.
  static bool pin(request&, const object_metadata* object, const object_metadata*) {
    return object == nullptr;
  }
};

/// DELETE. Of whatever is there; not_found where nothing is.
struct remove_verb {
  using request = remove_request;
  using value = void;
  using state = no_state;

  static constexpr service::verb_info info{"DeleteObject", pacing_class::write,
                                           billing_class::free};
  static constexpr service::repeat_rule repeat{
      info.name, repeat_condition::never,     repeat_meaning::done, repeat_meaning::failed,
      false,     service::last_writer_removes};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, r.generation, false};
  }
  /// Errors: unimplemented for a generation and conditions.
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  static result<void> parse(const request& r, const state&, const whole_reply& reply);
  static bool pin(request&, const object_metadata*, const object_metadata*) { return false; }
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/ais/impl/object_verbs.ipp>
#endif
