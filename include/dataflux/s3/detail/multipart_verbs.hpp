#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/result.hpp>
#include <dataflux/s3/detail/object_fields.hpp>
#include <dataflux/s3/detail/verb.hpp>
#include <dataflux/store/multipart_requests.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

/// Multipart uploads of S3 (s3-protocol.md 3.6). They end under a condition, so that an upload
/// needs no temporary name. Their common shape is in service/detail/verb.hpp.
namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// POST ?uploads, metadata as header fields. Never repeated: a second attempt would leave an upload
/// behind that nobody knows and that is billed for ever.
struct multipart_initiate_verb {
  using request = multipart_initiate_request;
  using value = multipart_upload;
  using state = std::string;  ///< the mark that the object will have

  static constexpr service::verb_info info{"CreateMultipartUpload", pacing_class::write,
                                           billing_class::a};
  static constexpr service::repeat_rule repeat{info.name, repeat_condition::never};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, false};
  }
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request& r, const call_id& id);
  static void build(const call_context& context, const request& r, const state& mark,
                    http::request& out);
  /// Errors: internal for an id that no request could name.
  static result<value> parse(const request& r, const state& mark, const whole_reply& reply);
};

/// The checksum of a part's data: the caller's, or taken once per call.
struct part_checksum {
  std::uint32_t crc32c{0};
};

/// PUT ?partNumber=N&uploadId=U with the part's CRC32C, which the server compares (400 BadDigest).
struct upload_part_verb {
  using request = upload_part_request;
  using value = uploaded_part;
  using state = part_checksum;

  static constexpr service::verb_info info{"UploadPart", pacing_class::write, billing_class::a};
  static constexpr service::repeat_rule repeat{info.name, repeat_condition::always};
  static constexpr bool damage_is_repeated = true;

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, false};
  }
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request& r, const call_id&);
  static void build(const call_context& context, const request& r, const state& sum,
                    http::request& out);
  /// Errors: internal for a reply without ETag; data_loss for another checksum.
  static result<value> parse(const request& r, const state& sum, const whole_reply& reply);
};

/// A complete call's body, what the object will be, and the tag it must have now.
struct complete_state {
  std::string document{};
  std::string bare{};  ///< without checksums, for servers that know none
  crc32c_accumulator whole{};
  std::string composite{};  ///< the checksum of the parts' checksums, "B64-N"
  known_tag tag{};
};

/// POST ?uploadId=U with the list of parts, under the request's conditions. It may take minutes, in
/// which white space comes; then a result or an `<Error>`, under the status 200 of long before.
struct multipart_complete_verb {
  using request = multipart_complete_request;
  using value = object_metadata;
  using state = complete_state;

  static constexpr service::verb_info info{"CompleteMultipartUpload", pacing_class::write,
                                           billing_class::a, true};
  static constexpr service::repeat_rule repeat{
      info.name, repeat_condition::always, repeat_meaning::compare, repeat_meaning::compare, true};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, r.conditions.if_generation_match == 0};
  }
  static result<void> check(const call_context& context, const request& r);
  /// Errors: as codec::write_complete_request().
  static result<state> prepare(const request& r, const call_id&);
  static void build(const call_context& context, const request& r, const state& s,
                    http::request& out);
  /// The CRC32C of the whole is in it where the server says that it has compared it. Errors:
  /// data_loss with the generation for another checksum, of the whole or of the parts' ones;
  /// untold_write().
  static result<std::optional<value>> parse(const request& r, state& s, const whole_reply& reply);
  /// The parts' bytes, with the mark of the upload's beginning where the request has it.
  static bool is_ours(const request& r, const state& s, const object_metadata& found);
};

/// DELETE ?uploadId=U.
struct multipart_abort_verb {
  using request = multipart_abort_request;
  using value = void;
  using state = service::no_state;

  static constexpr service::verb_info info{"AbortMultipartUpload", pacing_class::write,
                                           billing_class::free};
  static constexpr service::repeat_rule repeat{info.name, repeat_condition::always,
                                               repeat_meaning::done};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, false};
  }
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  static result<value> parse(const request& r, const state&, const whole_reply& reply);
};

/// GET ?uploadId=U.
struct list_parts_verb {
  using request = list_parts_request;
  using value = part_page;
  using state = service::no_state;

  static constexpr service::verb_info info{"ListParts", pacing_class::metadata, billing_class::a};
  static constexpr service::repeat_rule repeat{info.name, repeat_condition::always};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, false};
  }
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  /// Errors: internal for another document, for part numbers that do not ascend, or for a page that
  /// says it is not the last but does not advance.
  static result<value> parse(const request& r, const state&, const whole_reply& reply);
};

/// GET ?uploads.
struct list_uploads_verb {
  using request = list_uploads_request;
  using value = upload_page;
  using state = service::no_state;

  static constexpr service::verb_info info{"ListMultipartUploads", pacing_class::metadata,
                                           billing_class::a, false, std::size_t{8} << 20U};
  static constexpr service::repeat_rule repeat{info.name, repeat_condition::always};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, {}, 0, false};
  }
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  /// Errors: as list_parts_verb; an upload without name or id, or of another prefix.
  static result<value> parse(const request& r, const state&, const whole_reply& reply);
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/multipart_lists.ipp>
#include <dataflux/s3/impl/multipart_verbs.ipp>
#endif
