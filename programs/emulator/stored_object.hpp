#pragma once

#include <emulator/access_list.hpp>
#include <emulator/content.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace emulator {

namespace s3 {
struct object_facts;
}

/// How long an object may be neither deleted nor replaced, by its own word (protocol.md 1.12).
struct object_retention {
  bool locked{false};
  std::chrono::system_clock::time_point until{};
};

/// One of an object's `contexts.custom` (protocol.md 7.1).
struct object_context {
  std::string value{};
  std::chrono::system_clock::time_point created{};
  std::chrono::system_clock::time_point updated{};
};
using object_contexts = std::map<std::string, object_context, std::less<>>;

/// What a writer may say about an object (protocol.md 1.2); an empty text is an absent field.
struct object_metadata {
  std::string content_type{};
  std::string content_encoding{};
  std::string cache_control{};
  std::string content_disposition{};
  std::string content_language{};
  std::string custom_time{};
  std::string storage_class{};  ///< empty until it is stored: then its bucket's
  std::string kms_key{};
  std::map<std::string, std::string, std::less<>> custom{};
  bool temporary_hold{false};
  bool event_based_hold{false};
  std::optional<object_retention> retention{};
  std::shared_ptr<const object_contexts> contexts{};  ///< null: none
  access_list_ptr access{};                           ///< null: projectPrivate

  /// What a copy takes over: holds, retention and access stay with the object that they were given.
  object_metadata copied() const {
    object_metadata out = *this;
    out.temporary_hold = out.event_based_hold = false;
    out.retention.reset();
    out.access.reset();
    return out;
  }
};

/// One state of one generation of an object. Immutable but for its digests, which are computed on
/// first need and kept, since a seeded folder's files are not read before someone asks.
/// Threads: all const members may be called at the same time.
class stored_object {
 public:
  using time_point = std::chrono::system_clock::time_point;

  std::string bucket{};
  std::string name{};
  object_metadata metadata{};
  content data{};
  /// SHA-256, as base64, of the key without which its bytes cannot be read; empty: none is needed.
  std::string customer_key{};
  std::int64_t generation{0};
  std::int64_t metageneration{1};
  time_point created{};
  time_point updated{};
  /// When it stopped being the live one; of noncurrent generations in versioned buckets.
  std::optional<time_point> deleted{};
  /// Set when it was deleted for good in a bucket that still keeps it for a time.
  struct soft_deletion {
    time_point at{};
    time_point until{};
  };
  std::optional<soft_deletion> soft{};
  /// When its event-based hold was released: from then on, not from its creation, it is retained.
  std::optional<time_point> released{};
  /// By its bucket's retention policy; nothing without one, or as long as an event-based hold
  /// lasts.
  std::optional<time_point> retained_until{};
  std::int32_t component_count{0};  ///< of composites, else 0
  /// False for composites and results of multipart uploads: the service keeps no MD5 of those
  /// (protocol.md 5.3).
  bool has_md5{true};
  /// What S3 knows beside; null of objects that were not written by its face.
  std::shared_ptr<const s3::object_facts> s3_facts{};

  /// Throw service_error 500 when a seeded file can no longer be read in full.
  std::uint32_t crc32c() const;
  /// 16 raw bytes; only when has_md5.
  const std::string& md5() const;
  /// The JSON API's etag: generation and metageneration, encoded.
  std::string etag() const;

 private:
  struct digests {
    std::once_flag crc32c_once{};
    std::once_flag md5_once{};
    std::uint32_t crc32c{0};
    std::string md5{};
  };
  std::shared_ptr<digests> digests_{std::make_shared<digests>()};  ///< copies share it
};

using object_ptr = std::shared_ptr<const stored_object>;

/// RFC 3339 with milliseconds, in UTC: "2026-03-01T12:00:00.000Z".
std::string rfc3339(std::chrono::system_clock::time_point time);
/// The form of HTTP headers: "Sun, 01 Mar 2026 12:00:00 GMT".
std::string http_date(std::chrono::system_clock::time_point time);
/// Empty optional for a text of another form: such a condition is ignored.
std::optional<std::chrono::system_clock::time_point> parse_http_date(std::string_view text);
/// RFC 3339 as a point of time; empty optional for a text of another form, or a year so far away
/// that the clock does not know it.
std::optional<std::chrono::system_clock::time_point> parse_time(std::string_view text);
/// Seconds since 1970 and nanoseconds, of any year and offset; empty optional for a text of another
/// form.
std::optional<std::pair<std::int64_t, std::int64_t>> parse_timestamp(std::string_view text);

}  // namespace emulator
