#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/xml.hpp>
#include <dataflux/error.hpp>
#include <dataflux/http/detail/retry.hpp>
#include <dataflux/s3/detail/verb.hpp>

#include <span>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// What a status and the service's code mean for a repetition (s3-protocol.md 3.11): the table of
/// the service's codes, then http::classify(). A 503 that can have no code, since it answers HEAD,
/// is SlowDown; any other one without a code may be of something before the service. A conflict
/// with another conditional write wrote nothing, so PutObject is sent again;
/// CompleteMultipartUpload is not, since its parts are gone.
http::reply_class classify(const call_identity& call, int status, std::string_view reason) noexcept;

/// The error of a reply that is no success, in words that say what to do.
///
/// Bodies are `<Error>` (or, of a gateway, a web page, plain text, nothing; a reply to HEAD never
/// has one). Code and message of the service become reason() and message(); what else the document
/// has is left out, since it repeats what was signed. A status of 2xx with an `<Error>` is read by
/// the code alone.
///
/// A read that was pinned to a state (call.generation) and is refused by 412 is not_found: that
/// state is gone. Of a create-only write 412 is already_exists; 409 is aborted, never that.
///
/// Pure, thread-safe, survives any bytes. Cost: some allocations.
error parse_error(const call_identity& call, const reply_facts& facts, bytes_view body,
                  std::span<const std::string_view> secrets = {});

/// Where a reply says that the bucket is: its field x-amz-bucket-region, else the document's
/// `<Region>`. Empty unless status and code are of a request that went to the wrong region.
std::string region_told(const reply_facts& facts, bytes_view body);

/// The document of a reply of 2xx, whose root is `root`, or `other_root`; white space before it is
/// skipped, since the service sends that while it works. Errors: as parse_error() for an `<Error>`,
/// a web page and another make of server; internal and retryable for all else, which was cut or
/// garbled.
result<codec::xml_document> parse_document(const whole_reply& reply, std::string_view root,
                                           const call_identity& call = {},
                                           std::string_view other_root = {});

/// The same for a reply that has no document, or one that nobody needs.
result<void> check_document(const whole_reply& reply, const call_identity& call = {});

/// "this does not look like S3: WHAT; check the endpoint and any proxy".
std::string not_the_service(std::string_view what);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/error_reply.ipp>
#endif
