#pragma once

#include <dataflux/gcs/detail/object_verbs.hpp>
#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/requests.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

/// The verbs of the JSON API that make an object out of others or change one without its bytes:
/// compose, move, rewrite, patch. Their common shape is in gcs/detail/verb.hpp.
namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// A request's JSON body, and the mark that it writes (object_metadata::upload_mark).
struct marked_document {
  std::string text{};
  std::string mark{};
};

/// objects.compose: POST {json}{bucket}/o/{object}/compose (protocol.md 1.5).
struct compose_verb {
  using request = compose_request;
  using value = object_metadata;
  using state = marked_document;

  static constexpr service::verb_info info{"objects.compose", pacing_class::write,
                                           billing_class::a};
  static constexpr service::repeat_rule repeat{info.name,
                                               service::repeat_condition::generation_match,
                                               service::repeat_meaning::failed,
                                               service::repeat_meaning::compare,
                                               true,
                                               service::last_writer_replaces};

  static service::call_identity identity(const request& r) noexcept {
    return {.verb = info.name,
            .bucket = r.bucket,
            .object = r.object,
            .create_only = r.conditions.if_generation_match == 0,
            .source_bucket = r.bucket};
  }
  static result<state> prepare(const request& r, const call_id& id);
  static void build(const call_context& context, const request& r, const state& body,
                    http::request& out);
  /// Errors: as parse_object_resource(); data_loss with the generation for a CRC32C that is not the
  /// one asked for.
  static result<value> parse(const request& r, const state&, const service::whole_reply& reply);
  /// By the mark: what the sources were at that moment nobody knows afterwards.
  static bool is_ours(const request& r, const state& body, const object_metadata& found);
  /// Something is appended to the object itself.
  static bool adds_up(const request& r) noexcept;
  static bool pin(request& r, const object_metadata* object, const object_metadata*) {
    return pin_generation(r, object);
  }
};

/// A failed condition can only be that the object exists already.
template <class Request>
bool creates_only(const Request& r) noexcept {
  return r.conditions.if_generation_match == 0 && !r.source_conditions.any();
}

/// objects.move: POST {json}{bucket}/o/{source}/moveTo/o/{object} (protocol.md 1.6).
struct move_verb {
  using request = move_request;
  using value = object_metadata;
  using state = service::no_state;

  static constexpr service::verb_info info{"objects.move", pacing_class::write, billing_class::a};
  // Its source is gone once it has succeeded.
  static constexpr service::repeat_rule repeat{info.name,
                                               service::repeat_condition::generation_match,
                                               service::repeat_meaning::compare,
                                               service::repeat_meaning::compare,
                                               true,
                                               service::last_writer_replaces};

  static service::call_identity identity(const request& r) noexcept {
    return {.verb = info.name,
            .bucket = r.bucket,
            .object = r.object,
            .create_only = creates_only(r),
            .source_bucket = r.bucket,
            .source = r.source};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  static result<value> parse(const request& r, const state&, const service::whole_reply& reply);
  static stat_request witness(const request& r) {
    return {.bucket = r.bucket,
            .object = r.source,
            .fields = metadata_fields::basic | metadata_fields::created};
  }
  static constexpr bool moves = true;
  static constexpr bool proof_is_equality = true;
  /// A source that is of this generation was not moved, whenever it was made.
  static bool pins(const request& r) noexcept {
    return r.source_conditions.if_generation_match.has_value();
  }
  /// Also where another generation took its place: a bucket with versions keeps what was moved.
  static bool source_is_gone(const request& r, const result<object_metadata>& source) {
    const auto& pinned = r.source_conditions.if_generation_match;
    if (!source) return source.error().code() == errc::not_found;
    return pinned && *pinned != source->generation;
  }
  /// The source must be gone, and what is found be it by its CRC32C, or, without one, be younger
  /// than the generation that the source had to be of.
  static bool is_ours(const request& r, const state&, const object_metadata& found,
                      const result<object_metadata>& source);
  /// What is known of the source does not contradict.
  static bool may_be_ours(const request& r, const object_metadata& found) {
    return found.generation != r.conditions.if_generation_match &&
           (!r.crc32c || found.crc32c == r.crc32c);
  }
  static bool pin(request& r, const object_metadata* object, const object_metadata* source) {
    if (source != nullptr && !r.source_conditions.any()) {
      r.source_conditions.if_generation_match = source->generation;
      if (!r.crc32c) r.crc32c = source->crc32c;
    }
    return pin_generation(r, object);
  }
};

/// How far a rewrite has come.
struct rewrite_progress {
  std::string document{};  ///< empty = the source's metadata
  std::string token{};     ///< of the next request, empty for the first
  std::uint64_t copied{0};
};

/// objects.rewrite: POST {json}{bucket}/o/{source}/rewriteTo/b/{bucket}/o/{object}, again and again
/// with the token of the reply until it is done (protocol.md 1.6).
struct rewrite_verb {
  using request = rewrite_request;
  using value = object_metadata;
  using state = rewrite_progress;

  static constexpr service::verb_info info{"objects.rewrite", pacing_class::write, billing_class::a,
                                           true};
  // From its second request on, which carries a token, it may always be repeated.
  static constexpr service::repeat_rule repeat{info.name,
                                               service::repeat_condition::generation_match,
                                               service::repeat_meaning::failed,
                                               service::repeat_meaning::compare,
                                               true,
                                               service::last_writer_replaces};

  static service::call_identity identity(const request& r) noexcept {
    return {.verb = info.name,
            .bucket = r.bucket,
            .object = r.object,
            .create_only = creates_only(r),
            .source_bucket = r.source_bucket,
            .source = r.source,
            .source_generation = r.source_generation};
  }
  static std::array<std::string_view, 2> secrets(const request& r) noexcept {
    return {secret_of(r.source_key), secret_of(r.key)};
  }
  static result<state> prepare(const request& r, const call_id&);
  static void build(const call_context& context, const request& r, const state& at,
                    http::request& out);
  /// Nothing when more is to be copied. Errors: internal, retryable() for a reply that is cut, or
  /// that has not come further than the one before.
  static result<std::optional<value>> parse(const request& r, state& at,
                                            const service::whole_reply& reply);
  static bool continued(const state& at) noexcept { return !at.token.empty(); }
  static stat_request witness(const request& r) {
    return {.bucket = r.source_bucket,
            .object = r.source,
            .generation = r.source_generation,
            .fields = metadata_fields::basic};
  }
  static constexpr bool proof_is_equality = true;
  /// The source's bytes, younger than it and than what was to be replaced. A rewrite onto its own
  /// name leaves no witness: its error stands.
  static bool is_ours(const request& r, const state&, const object_metadata& found,
                      const result<object_metadata>& source);
  static bool pin(request& r, const object_metadata* object, const object_metadata*) {
    return pin_generation(r, object);
  }
};

/// objects.patch: PATCH {json}{bucket}/o/{object} (protocol.md 1.7).
struct patch_verb {
  using request = patch_request;
  using value = object_metadata;
  using state = std::string;  ///< the JSON merge patch

  static constexpr service::verb_info info{"objects.patch", pacing_class::write, billing_class::a};
  static constexpr service::repeat_rule repeat{info.name,
                                               service::repeat_condition::metageneration_match,
                                               service::repeat_meaning::failed,
                                               service::repeat_meaning::compare,
                                               true,
                                               service::last_writer_replaces};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, r.generation, false};
  }
  static result<state> prepare(const request& r, const call_id&);
  static void build(const call_context& context, const request& r, const state& body,
                    http::request& out);
  static result<value> parse(const request& r, const state&, const service::whole_reply& reply);
  static constexpr bool keeps_content = true;
  /// All that was to be changed is so, in a later metageneration.
  static bool is_ours(const request& r, const state&, const object_metadata& found);
  static bool pin(request& r, const object_metadata* object, const object_metadata*);
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/change_verbs.ipp>
#endif
