#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/multipart_requests.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <span>
#include <string>

/// The multipart upload of the XML API, path style (protocol.md 2). Its verbs know no preconditions
/// and never return an md5. Their common shape is in gcs/detail/verb.hpp.
namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// POST {xml}{bucket}/{object}?uploads, metadata as header fields. Never repeated: a second attempt
/// would leave an upload behind that nobody knows and that is billed for ever.
struct multipart_initiate_verb {
  using request = multipart_initiate_request;
  using value = multipart_upload;
  using state = std::string;  ///< the mark that the object will have

  static constexpr service::verb_info info{"multipart.initiate", pacing_class::write,
                                           billing_class::a};
  // A second one would leave an upload behind that nobody knows and that is billed for ever.
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::never};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, false};
  }
  static result<state> prepare(const request& r, const call_id& id);
  static void build(const call_context& context, const request& r, const state& mark,
                    http::request& out);
  /// Errors: internal for a body that is no InitiateMultipartUploadResult with an UploadId; an
  /// `<Error>` in it as parse_error() reads it.
  /// Errors: internal for an id that no request could name.
  static result<value> parse(const request& r, const state& mark,
                             const service::whole_reply& reply);
};

/// The checksum of a part's data: the caller's, or taken once per call.
struct part_checksum {
  std::uint32_t crc32c{0};
};

/// PUT {xml}{bucket}/{object}?partNumber=N&uploadId=U with the part's x-goog-hash, which the
/// service checks (400 when it differs).
struct upload_part_verb {
  using request = upload_part_request;
  using value = uploaded_part;
  using state = part_checksum;

  static constexpr service::verb_info info{"multipart.part", pacing_class::write, billing_class::a};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always};
  static constexpr bool damage_is_repeated = true;

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, false};
  }
  static result<state> prepare(const request& r, const call_id&);
  static void build(const call_context& context, const request& r, const state& sum,
                    http::request& out);
  /// Errors: internal for a reply without ETag (a server that does not know this verb answers so,
  /// and has overwritten the object: protocol.md 6.1) or with a malformed x-goog-hash; data_loss
  /// when the hash is not the part's.
  static result<value> parse(const request& r, const state& sum, const service::whole_reply& reply);
};

/// A complete call's body, and what the object will be.
struct complete_body {
  std::string document{};
  crc32c_accumulator whole{};
};

/// POST {xml}{bucket}/{object}?uploadId=U with the list of parts. May take minutes, and replaces
/// any live object of that name.
struct multipart_complete_verb {
  using request = multipart_complete_request;
  using value = object_metadata;
  using state = complete_body;

  static constexpr service::verb_info info{"multipart.complete", pacing_class::write,
                                           billing_class::a, true};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always,
                                               service::repeat_meaning::compare,
                                               service::repeat_meaning::failed, true};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, false};
  }
  /// Errors: as codec::write_complete_request(); unimplemented for conditions.
  static result<state> prepare(const request& r, const call_id&);
  static void build(const call_context& context, const request& r, const state& body,
                    http::request& out);
  /// Bucket, name, size, generation, etag, and the CRC32C of the whole if the reply has one that
  /// equals the parts' combined; without one crc32c stays empty and the caller has still to ask
  /// for it (stat, check_stored). Errors: data_loss with the generation when it differs; what an
  /// `<Error>` in a reply of 200 says; internal for any other document.
  static result<value> parse(const request& r, const state& body,
                             const service::whole_reply& reply);
  static constexpr bool checksum_by_look = true;
  /// The parts' bytes, with the mark of the upload's beginning where the request has it.
  static bool is_ours(const request& r, const state& body, const object_metadata& found);
};

/// DELETE {xml}{bucket}/{object}?uploadId=U.
struct multipart_abort_verb {
  using request = multipart_abort_request;
  using value = void;
  using state = service::no_state;

  static constexpr service::verb_info info{"multipart.abort", pacing_class::write,
                                           billing_class::free};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always,
                                               service::repeat_meaning::done};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, false};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  /// 204; any 2xx is success.
  static result<value> parse(const request& r, const state&, const service::whole_reply& reply);
};

/// GET {xml}{bucket}/{object}?uploadId=U&max-parts=..&part-number-marker=..
struct list_parts_verb {
  using request = list_parts_request;
  using value = part_page;
  using state = service::no_state;

  static constexpr service::verb_info info{"multipart.parts", pacing_class::metadata,
                                           billing_class::a};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, false};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  /// Errors: internal for another document, for part numbers that do not ascend from the marker on,
  /// or for a page that says it is not the last but does not advance.
  static result<value> parse(const request& r, const state&, const service::whole_reply& reply);
};

/// GET {xml}{bucket}?uploads&max-uploads=..&prefix=..&key-marker=..&upload-id-marker=..
struct list_uploads_verb {
  using request = list_uploads_request;
  using value = upload_page;
  using state = service::no_state;

  static constexpr service::verb_info info{"multipart.uploads", pacing_class::metadata,
                                           billing_class::a, false, std::size_t{8} << 20U};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, {}, 0, false};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  /// Errors: as list_parts_verb; an upload without name or id, or of another prefix.
  static result<value> parse(const request& r, const state&, const service::whole_reply& reply);
};

/// The object that these parts make, in their order: its length and CRC32C (protocol.md 5.2).
crc32c_accumulator combined_parts(std::span<const uploaded_part> parts) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/multipart_verbs.ipp>
#endif
