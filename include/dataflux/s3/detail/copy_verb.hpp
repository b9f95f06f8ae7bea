#pragma once

#include <dataflux/result.hpp>
#include <dataflux/s3/detail/object_fields.hpp>
#include <dataflux/s3/detail/verb.hpp>
#include <dataflux/store/change_requests.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// What a copy found of its source, and the tag that the copy's place must have now.
struct copy_state {
  result<object_metadata> head{std::in_place};  ///< of the last reply
  std::optional<object_metadata> source{};
  known_tag tag{};
  mutable std::uint64_t at_once{greatest_at_once};  ///< as build() was told
};

/// By its reason a join_call follows.
inline constexpr std::string_view too_large_reason{"SourceTooLarge"};
error too_large_for_one();
/// What is copied in parts has the client's key on both sides. Nothing: it may be.
std::optional<error> other_keys(const rewrite_request& r);

/// HEAD of the source, then CopyObject of exactly that state (s3-protocol.md 3.5): at most 5 GiB,
/// or what the client copies at once. The copy keeps the source's storage class unless the request
/// gives one. The service answers 200 before the work is done, and then an `<Error>` may come.
struct copy_verb {
  using request = rewrite_request;
  using value = object_metadata;
  using state = copy_state;

  static constexpr service::verb_info info{"CopyObject", pacing_class::write, billing_class::a,
                                           true};
  static constexpr service::repeat_rule repeat{info.name,
                                               repeat_condition::generation_match,
                                               repeat_meaning::failed,
                                               repeat_meaning::compare,
                                               true,
                                               last_writer_replaces};
  static constexpr bool proof_is_equality = true;

  static call_identity identity(const request& r) noexcept {
    return {.verb = info.name,
            .bucket = r.bucket,
            .object = r.object,
            .create_only = r.conditions.if_generation_match == 0,
            .source_bucket = r.source_bucket,
            .source = r.source,
            .source_generation = r.source_generation};
  }
  static std::array<std::string_view, 2> secrets(const request& r) noexcept {
    return {secret_of(r.source_key), secret_of(r.key)};
  }
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state& s,
                    http::request& out);
  static void read_head(const http::request&, const http::reply_head& head, state& s) {
    s.head = read_object_head(head, {}, {});
  }
  /// The copy as it was asked for, with a CRC32C where the reply tells one. Errors:
  /// too_large_for_one(); as check_found() of the source; untold_write(); data_loss with the
  /// generation for another CRC32C than the source's.
  static result<std::optional<value>> parse(const request& r, state& s, const whole_reply& reply);
  /// The source's bytes: by CRC32C, or, where the service does not tell it of both, by ETag. That
  /// of an upload in parts or with a key is another one, and then nothing tells.
  static bool is_ours(const request& r, const state& s, const object_metadata& found);
  static bool pin(request& r, const object_metadata* object, const object_metadata*) {
    r.conditions.if_generation_match = object != nullptr ? object->generation : 0;
    return true;
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/copy_verb.ipp>
#endif
