#pragma once

#include <dataflux/ais/detail/verb.hpp>
#include <dataflux/bytes.hpp>
#include <dataflux/error.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/http/detail/retry.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

/// What the header fields of a reply say: sets all of `out`, and uses the memory of its texts
/// again. The ETag is object_state::text(). Never fails.
void gather_facts(const http::reply_head& head, reply_facts& out);

/// What a status means for a repetition: as http::classify(). 500 of a checksum is final, since the
/// call itself sends the bytes again.
http::reply_class classify(int status, std::string_view reason) noexcept;

/// The error of a reply that is no success, in words that say what to do. Bodies are
/// {"tcode","message",..} (of HEAD none; of a proxy a web page, text or nothing): tcode becomes
/// reason(). Pure, thread-safe, survives any bytes. Cost: some allocations.
error parse_error(const call_identity& call, const reply_facts& facts, bytes_view body,
                  std::span<const std::string_view> secrets = {});

/// "this does not look like AIStore: WHAT; check the endpoint and any proxy".
std::string not_the_service(std::string_view what);

/// Where a reply of 301, 302, 307 or 308 leads; nothing where it says so in no URL that can be
/// asked: see parse_error().
std::optional<http::url> redirect_of(const reply_facts& facts);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/ais/impl/error_reply.ipp>
#endif
