#pragma once

#include <dataflux/s3/detail/object_verbs.hpp>
#include <dataflux/s3/detail/verb.hpp>
#include <dataflux/store/multipart_requests.hpp>

#include <cstdint>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// Makes a part of an upload of bytes that another object has, in one state.
struct copy_part_request {
  using value = uploaded_part;

  std::string bucket{};
  std::string object{};
  std::string upload_id{};
  std::uint32_t part_number{0};
  std::string source_bucket{};
  std::string source{};
  std::string source_etag{};
  std::uint64_t source_size{0};
  std::uint64_t offset{0};
  std::uint64_t length{0};
  /// The end of the upload will say the whole's CRC32C, so that the part's must be told.
  bool needs_checksum{true};
  call_limits limits{};
};
/// As of upload_part_request.
result<void> validate(const copy_part_request& r);

/// PUT ?partNumber&uploadId with the source's name, state and range (s3-protocol.md 3.5). The
/// status 200 comes before the work is done, and then an `<Error>` may come. Copying a part again
/// replaces it.
struct copy_part_verb {
  using request = copy_part_request;
  using value = uploaded_part;
  using state = no_state;

  static constexpr service::verb_info info{"UploadPartCopy", pacing_class::write, billing_class::a,
                                           true};
  static constexpr service::repeat_rule repeat{info.name, repeat_condition::always};

  static call_identity identity(const request& r) noexcept {
    return {.verb = info.name,
            .bucket = r.bucket,
            .object = r.object,
            .source_bucket = r.source_bucket,
            .source = r.source};
  }
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  /// Errors: as parse_document(); internal for a result without ETag, and for a checksum that is
  /// malformed, or needed and not told.
  static result<value> parse(const request& r, const state&, const whole_reply& reply);
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/copy_part_verb.ipp>
#endif
