#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>
#include <dataflux/s3/detail/verb.hpp>
#include <dataflux/service/detail/just_before.hpp>
#include <dataflux/store/requests.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// How a page of the library's listing is asked for and made of one of S3's, which knows an
/// exclusive beginning and no end (s3-protocol.md 3.8, 9).
namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

using service::just_before;

/// How many entries are asked for.
inline std::uint32_t entries_of(const list_page_request& r) noexcept {
  return r.max_results == 0 || r.max_results > greatest_page ? greatest_page : r.max_results;
}

/// What a page goes on behind: the last name of the page before, so that any range can be cut
/// anywhere; or the server's own token, where it gave no name.
struct page_start {
  std::string after{};  ///< start-after
  std::string token{};  ///< continuation-token
  /// Names before it are dropped.
  std::string floor{};
};
/// With a delimiter a beginning within a folded prefix is that prefix's own: the server would hide
/// all of it. Errors: invalid_argument for a page_token of another listing.
result<page_start> start_of(const list_page_request& r);

/// Reads `<ListBucketResult>` of ListObjectsV2, or of V1, into the page. Names are decoded only if
/// EncodingType says "url". A page may have more entries than were asked for.
///
/// Errors: as parse_document(); internal for a member that is missing or malformed, for names or
/// prefixes that do not ascend or lack the prefix asked for, and for a page that names itself as
/// the next.
result<list_page> read_list_page(const list_page_request& r, const whole_reply& reply,
                                 const call_identity& call);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/list_page.ipp>
#endif
