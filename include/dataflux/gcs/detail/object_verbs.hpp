#pragma once

#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/result.hpp>
#include <dataflux/service/detail/dialect.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/requests.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// The verbs of the JSON API for one object: stat, insert, remove. Their common shape is in
/// gcs/detail/verb.hpp.
namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// The object must still be that one, or still not be there.
template <class Request>
bool pin_generation(Request& r, const object_metadata* found) {
  r.conditions.if_generation_match = found != nullptr ? found->generation : 0;
  return true;
}

/// objects.get: GET {json}{bucket}/o/{object} (protocol.md 1.2), all fields but the ACL, or those
/// that the request says.
struct stat_verb {
  using request = stat_request;
  using value = object_metadata;
  using state = service::no_state;

  static constexpr service::verb_info info{"objects.get", pacing_class::metadata, billing_class::b};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always};
  static constexpr bool recycled = true;

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, r.generation, false};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  /// Errors: as parse_object_resource().
  static result<value> parse(const request& r, const state&, const service::whole_reply& reply);
};

/// A stat by a write, which asks for the time, too.
struct look_verb {
  using request = stat_request;
  using value = service::looked_object;
  using state = service::no_state;

  static constexpr service::verb_info info{stat_verb::info};
  static constexpr service::repeat_rule repeat{stat_verb::repeat};

  static service::call_identity identity(const request& r) noexcept {
    return stat_verb::identity(r);
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state& none,
                    http::request& out) {
    stat_verb::build(context, r, none, out);
  }
  static result<value> parse(const request& r, const state& none,
                             const service::whole_reply& reply);
};

/// The texts around an insert's data, the data's checksum, and the mark that the object gets
/// (object_metadata::upload_mark).
struct insert_body {
  std::uint32_t crc32c{0};
  std::string mark{};
  std::string content_type{};  ///< of the request: multipart/related and the boundary
  std::string preamble{};      ///< the metadata part, and the head of the media part
  std::string epilogue{};
};

/// objects.insert: POST {upload}{bucket}/o?uploadType=multipart (protocol.md 1.3). One request of
/// metadata and data; the data's CRC32C goes in the metadata, so that the service refuses damaged
/// bytes (400) before it stores them, and the reply's is compared again.
struct insert_verb {
  using request = insert_request;
  using value = object_metadata;
  using state = insert_body;

  static constexpr service::verb_info info{"objects.insert", pacing_class::write, billing_class::a};
  static constexpr service::repeat_rule repeat{info.name,
                                               service::repeat_condition::generation_match,
                                               service::repeat_meaning::failed,
                                               service::repeat_meaning::compare,
                                               true,
                                               service::last_writer_replaces};
  static constexpr bool recycled = true;
  static constexpr bool damage_is_repeated = true;

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, r.conditions.if_generation_match == 0};
  }
  /// Reads the data once for its CRC32C. The boundary is the call's 128 random bits: that they
  /// occur in the data is less likely than any failure of the machine. Sets all of `body`, and
  /// uses the memory of its texts again.
  static void prepare(const request& r, const call_id& id, state& body);
  static void build(const call_context& context, const request& r, const state& body,
                    http::request& out);
  /// Errors: as parse_object_resource() and check_stored().
  static result<value> parse(const request& r, const state& body,
                             const service::whole_reply& reply);
  /// The bytes that were sent, with this call's mark: an equal object of another writer is not it.
  static bool is_ours(const request& r, const state& body, const object_metadata& found);
  static bool pin(request& r, const object_metadata* object, const object_metadata*) {
    return pin_generation(r, object);
  }
};

/// objects.delete: DELETE {json}{bucket}/o/{object} (protocol.md 1.7).
struct remove_verb {
  using request = remove_request;
  using value = void;
  using state = service::no_state;

  static constexpr service::verb_info info{"objects.delete", pacing_class::write,
                                           billing_class::free};
  static constexpr service::repeat_rule repeat{info.name,
                                               service::repeat_condition::generation,
                                               service::repeat_meaning::done,
                                               service::repeat_meaning::failed,
                                               false,
                                               service::last_writer_removes};
  static constexpr bool recycled = true;

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, r.generation, false};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  /// Any 2xx is success, with or without a body (protocol.md 6.3), unless check_document() objects.
  static result<value> parse(const request& r, const state&, const service::whole_reply& reply);
  static bool pin(request& r, const object_metadata* object, const object_metadata*) {
    return pin_generation(r, object);
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/object_verbs.ipp>
#endif
