#pragma once

#include <dataflux/result.hpp>
#include <dataflux/store/bucket_requests.hpp>
#include <dataflux/store/multipart_requests.hpp>
#include <dataflux/store/requests.hpp>

#include <string_view>

/// Bad input, found before any network call. Every store calls these first. So a mistake gives the
/// same words whatever is behind the interface, and costs no request. It is never sent in a form
/// that a server might read as something else.
///
/// Errors: invalid_argument naming the thing, its value (shortened, control characters escaped) and
/// the rule. Pure, thread-safe; no allocation on success, linear in the size of names and metadata.
namespace dataflux::inline DATAFLUX_ABI {

/// 1-1024 bytes of UTF-8 without CR and LF; not "." or ".."; not below
/// ".well-known/acme-challenge/" (protocol.md 0.1).
result<void> validate_object_name(std::string_view object);

/// content_type, content_encoding and kms_key_name are printable ASCII; storage_class is of A-Z and
/// '_'; custom metadata is UTF-8 without control characters, its keys are not empty, not repeated
/// and not upload_mark_key, at most 8 KiB together (protocol.md 3.3).
result<void> validate_attributes(const object_attributes& a);

/// None is negative, and with `exclusive` no kind has both match and not_match.
result<void> validate_conditions(const preconditions& c, bool exclusive = false);

/// Names, and of each kind of request:
/// - list: prefix, delimiter and offsets are UTF-8 of at most 1024 bytes, max_results <= 1000;
/// - stat, read, remove: generation and conditions are not negative; a read's range is not empty
///   and ends within 2^63 - 1;
/// - stat: fields has no bit but those of metadata_fields;
/// - insert, compose, initiate: as validate_attributes() says;
/// - read: decode_gzip for the whole object only;
/// - compose: 1-32 sources, and neither of the not_match conditions (protocol.md 1.5);
/// - move: two names that differ; not both match and not_match of one kind (protocol.md 1.6);
/// - rewrite: max_bytes_per_request is a multiple of 1 MiB;
/// - patch: a change at all; what it sets is as validate_attributes() says;
/// - test_permissions: 1-100 permissions of letters and dots;
/// - list_buckets: the project is printable ASCII, the prefix text, max_results <= 1000;
/// - initiate, too: custom metadata travels in header fields, where keys lose their case and values
///   their outer blanks: keys are lower-case tokens, values printable ASCII without outer blanks;
/// - parts: upload_id is printable ASCII, numbers are 1-10,000, data is at most 5 GiB;
/// - list_parts, list_uploads: markers are text, max_results <= 1000; an upload_marker needs its
///   object_marker;
/// - complete: 1-10,000 parts, numbers strictly ascending, each with an etag, 5 TiB together.
///
/// Elsewhere opposite conditions of one kind are let through: the service takes them.
result<void> validate(const list_page_request& r);
result<void> validate(const stat_request& r);
result<void> validate(const read_request& r);
result<void> validate(const insert_request& r);
result<void> validate(const remove_request& r);
result<void> validate(const compose_request& r);
result<void> validate(const move_request& r);
result<void> validate(const rewrite_request& r);
result<void> validate(const patch_request& r);
result<void> validate(const bucket_request& r);
result<void> validate(const storage_layout_request& r);
result<void> validate(const test_permissions_request& r);
result<void> validate(const list_buckets_request& r);
result<void> validate(const list_all_buckets_request& r);
result<void> validate(const multipart_initiate_request& r);
result<void> validate(const upload_part_request& r);
result<void> validate(const multipart_complete_request& r);
result<void> validate(const multipart_abort_request& r);
result<void> validate(const list_parts_request& r);
result<void> validate(const list_uploads_request& r);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/validate.ipp>
#include <dataflux/store/impl/validate_buckets.ipp>
#include <dataflux/store/impl/validate_multipart.ipp>
#endif
