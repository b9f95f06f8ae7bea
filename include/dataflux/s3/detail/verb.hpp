#pragma once

#include <dataflux/s3/detail/bucket_places.hpp>
#include <dataflux/service/detail/repeat_rule.hpp>
#include <dataflux/service/detail/reply_facts.hpp>
#include <dataflux/service/detail/text.hpp>
#include <dataflux/service/detail/verb.hpp>
#include <dataflux/store/detail/customer_key.hpp>

#include <cstddef>
#include <cstdint>

/// What the verbs of S3 are written in: the words of service/detail/verb.hpp, and what build() is
/// told of the client. Verbs have the service's own names.
namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

using service::billing_class;
using service::call_id;
using service::call_identity;
using service::last_writer_removes;
using service::last_writer_replaces;
using service::no_state;
using service::pacing_class;
using service::repeat_condition;
using service::repeat_meaning;
using service::repeat_rule;
using service::reply_facts;
using service::trim;
using service::verb_info;
using service::whole_reply;

/// Which checksum of a multipart upload a server compares and keeps. s3::upload_checksum.
enum class upload_checksum : std::uint8_t {
  full_object,  ///< CRC32C of all bytes, as AWS and most others do
  composite,    ///< CRC32C of the parts' checksums, as Cloudflare's R2 does
  none,         ///< the server knows neither
};

/// What build() needs to know of the client. Borrowed for the duration of the call.
struct call_context {
  bucket_places& places;
  /// Who asks pays for buckets whose requester pays.
  bool requester_pays{false};
  upload_checksum uploads{upload_checksum::full_object};
  std::uint64_t copy_at_once{5ULL << 30U};
  /// By which the service encrypts what is written and read; null = none of the caller's.
  const held_key* key{nullptr};
};

/// 10,000 parts of 5 GiB.
inline constexpr std::uint64_t greatest_object = 10'000ULL * (5ULL << 30U);
/// What one CopyObject copies, and one PutObject writes.
inline constexpr std::uint64_t greatest_at_once = 5ULL << 30U;
inline constexpr std::uint32_t greatest_page = 1000;
/// Objects of one DeleteObjects.
inline constexpr std::uint32_t greatest_removal = 1000;
/// The same where AWS is not: Cloudflare's R2 takes no more (s3-protocol.md 3.4).
inline constexpr std::uint32_t usual_removal = 700;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
