#pragma once

#include <dataflux/result.hpp>
#include <dataflux/store/bucket_requests.hpp>
#include <dataflux/store/multipart_requests.hpp>
#include <dataflux/store/read_batch_request.hpp>
#include <dataflux/store/remove_many_request.hpp>
#include <dataflux/store/requests.hpp>

#include <cstddef>
#include <string_view>

/// Bad input, found before any network call. Each request has a validate() beside it, which stands
/// on these and checks names, too; every store calls it first. So a mistake gives the
/// same words whatever is behind the interface, and costs no request. It is never sent in a form
/// that a server might read as something else.
///
/// Opposite conditions of one kind are let through unless a request says otherwise: the service
/// takes them.
///
/// Errors: invalid_argument naming the thing, its value (shortened, control characters escaped) and
/// the rule. Pure, thread-safe; no allocation on success, linear in the size of names and metadata.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// 1-1024 bytes of UTF-8; not "." or ".."; not below ".well-known/acme-challenge/" (protocol.md
/// 0.1).
result<void> validate_object_name(std::string_view object);

/// Services' own have some 200 bytes; each travels in the target of every request of its upload.
inline constexpr std::size_t longest_upload_id = 2048;

/// 1-2,048 bytes of printable ASCII.
result<void> validate_upload_id(std::string_view id);

/// Neither CR nor LF, which S3 has in names and the others do not (protocol.md 0.1). Each service's
/// dialect asks; so does what writes names for all services.
result<void> validate_one_line(std::string_view object);

/// content_type, content_encoding and kms_key_name are printable ASCII; storage_class is of A-Z and
/// '_'; custom metadata is UTF-8 without control characters, its keys are not empty, not repeated
/// and not upload_mark_key, at most 8 KiB together (protocol.md 3.3).
result<void> validate_attributes(const object_attributes& a);

/// Custom metadata that travel in header fields: keys are lower-case tokens, values printable ASCII
/// without outer blanks.
result<void> validate_header_metadata(const object_attributes& a);

/// None is negative, and with `exclusive` no kind has both match and not_match.
result<void> validate_conditions(const preconditions& c, bool exclusive = false);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/validate.ipp>
#include <dataflux/store/impl/validate_buckets.ipp>
#include <dataflux/store/impl/validate_many.ipp>
#include <dataflux/store/impl/validate_multipart.ipp>
#endif
