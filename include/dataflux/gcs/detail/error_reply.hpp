#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/error.hpp>
#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/service/detail/printable_text.hpp>
#include <dataflux/service/detail/reply_facts.hpp>
#include <dataflux/service/detail/reply_words.hpp>

#include <span>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// The error of a reply that is no success, in words that say what to do.
///
/// Bodies come in every form (protocol.md 1.2, 1.10, 6.3): the JSON envelope, the same with a
/// string as code and an object as message, the OAuth pair {error, error_description}, XML
/// `<Error>`, plain text, a web page, or nothing. What can be read of it becomes reason()
/// (verbatim) and message(): the service's own text, cut to 2 KiB, with control characters and
/// broken UTF-8 replaced and anything that seems a token blanked out, then advice for the
/// common causes: 401 credentials, 403 the permission or the setting that is missing, 404 bucket,
/// object, generation or upload, 412 the condition, 429 the rate, a web page the wrong endpoint.
/// bucket() and object() are the call's, but of a source that is not found that source's.
///
/// code() is errc_from_http_status(), but for what the body tells more exactly: a checksum that the
/// service refused is data_loss, 412 on a create-only write is already_exists, and a rate limit
/// sent as 403 or 503 is resource_exhausted. retryable() follows http::classify(): true for what is
/// transient or throttled; never for 401, which calls for a fresh token first. A status of 2xx with
/// an error document (protocol.md 2) is read by the body's code alone. What gives itself away as
/// something else than the service (a web page without its request id, an S3 server) is internal,
/// below 500.
///
/// `secrets` are those that the request had (a token, the id of a session): what the server repeats
/// of them, in whatever form, is blanked out before anything is cut.
///
/// `body` may be a prefix of what was sent: 64 KiB is plenty. Pure, thread-safe, survives any
/// bytes. Cost: some allocations.
error parse_error(const service::call_identity& call, const service::reply_facts& facts,
                  bytes_view body, std::span<const std::string_view> secrets = {});

/// What is wrong with the body of a reply of 2xx that is no document of its verb: an error
/// document, a web page, or anything from another make of server. Success for everything else.
/// Cost: the first bytes are read.
result<void> check_document(const service::whole_reply& reply,
                            const service::call_identity& call = {});

/// The error of a reply whose JSON does not parse; retryable.
error cut_or_garbled();

/// "this does not look like Google Cloud Storage: WHAT; check the endpoint and any proxy".
std::string not_the_service(std::string_view what);

using service::is_web_page;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/error_reply.ipp>
#endif
