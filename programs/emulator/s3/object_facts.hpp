#pragma once

#include <emulator/s3/checksum.hpp>
#include <emulator/stored_object.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emulator::s3 {

/// How an object or an upload is encrypted at rest; nothing is encrypted here.
struct encryption {
  std::string kind{};    ///< "AES256", "aws:kms", "aws:kms:dsse"; empty: AES256
  std::string key_id{};  ///< of KMS
  bool bucket_key{false};
  std::string customer_key_md5{};  ///< base64 of the MD5 of the key that each call must bring

  /// Whether an ETag is no MD5 then.
  bool hides_md5() const { return kind.starts_with("aws:kms") || !customer_key_md5.empty(); }
};

using tag_list = std::vector<std::pair<std::string, std::string>>;

/// What an object lock says of one version.
struct lock_facts {
  std::string mode{};  ///< "GOVERNANCE", "COMPLIANCE"; empty: none
  std::optional<std::chrono::system_clock::time_point> until{};
  bool legal_hold{false};
};

struct part_facts {
  std::uint64_t size{0};
  std::string checksum{};  ///< base64; empty: none
};

/// What S3 knows of an object beside what all stores know of one. Immutable.
struct object_facts {
  std::string etag{};  ///< without quotes
  std::optional<checksum> sum{};
  std::vector<part_facts> parts{};  ///< of a multipart upload
  encryption encrypted{};
  tag_list tags{};
  lock_facts lock{};
  bool versioned{false};  ///< has a version id of its own; else "null"
  bool marker{false};     ///< a delete marker
  /// Until when a copy of an archived object can be read.
  std::optional<std::chrono::system_clock::time_point> restored_until{};
};

/// The object's ETag without quotes: what was written down, else the MD5 of its bytes.
std::string etag_of(const stored_object& object);
/// Whether one of the ETags of a condition, such as `"a", "b"` or `*`, is the object's.
bool names_etag(std::string_view condition, const stored_object& object);
/// "null" where it has none of its own.
std::string version_id_of(const stored_object& object);
bool is_marker(const stored_object& object) noexcept;
bool is_versioned(const stored_object& object) noexcept;
/// The facts of an object, empty ones where there are none.
const object_facts& facts_of(const stored_object& object) noexcept;
/// A copy that has a version of its own, or none.
std::shared_ptr<const object_facts> with_version(const object_facts& facts, bool versioned);

}  // namespace emulator::s3
