#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/preconditions.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What those verbs of gcs::client take and give that other stores do not have; written as
/// store/requests.hpp says.
namespace dataflux::inline DATAFLUX_ABI::gcs {

/// Changes some of an object's metadata and leaves the rest (protocol.md 1.7).
struct patch_request {
  using value = object_metadata;

  std::string bucket{};
  std::string object{};
  /// 0 = the live one.
  std::int64_t generation{0};
  /// Nothing = as it is; empty = removed. At least one member must say something.
  std::optional<std::string> content_type{};
  std::optional<std::string> content_encoding{};
  std::optional<std::string> content_disposition{};
  std::optional<std::string> content_language{};
  std::optional<std::string> cache_control{};
  /// Can be set and moved forward, never removed.
  std::optional<timestamp> custom_time{};
  /// Keys that are not named stay; a key without a value is removed.
  std::vector<std::pair<std::string, std::optional<std::string>>> metadata{};
  /// Without if_metageneration_match a failed attempt whose outcome is unknown is not repeated.
  preconditions conditions{};
  call_limits limits{};
};

/// Copies an object within the service: to another name, bucket, location, storage class or key.
/// However large it is, the call ends when all of it is copied; the service does so in several
/// requests, and what it has done is kept when one of them fails (protocol.md 1.6).
struct rewrite_request {
  using value = object_metadata;

  std::string source_bucket{};
  std::string source{};
  /// 0 = the live one. If a copy takes several requests, they go on with what the first one found.
  std::int64_t source_generation{0};
  std::string bucket{};
  std::string object{};
  /// With any of these set the copy's metadata are exactly these; with none they are the source's.
  std::string content_type{};
  std::vector<std::pair<std::string, std::string>> metadata{};
  std::string content_encoding{};
  std::string storage_class{};
  std::optional<timestamp> custom_time{};
  /// Of the copy; empty = the bucket's. Counts as none of the above.
  std::string kms_key_name{};
  /// Bytes that one request copies at most, a multiple of 1 MiB; 0 = as the service likes.
  std::uint64_t max_bytes_per_request{0};
  preconditions source_conditions{};
  /// Of the copy. Without if_generation_match a failed first request whose outcome is unknown is
  /// not repeated.
  preconditions conditions{};
  call_limits limits{};
};

/// What the service tells of a bucket (protocol.md 1.8). Members it did not send are empty.
struct bucket_metadata {
  std::string name{};
  std::string location{};       ///< such as "US-EAST1"
  std::string location_type{};  ///< "region", "dual-region", "multi-region", "zone"
  std::string storage_class{};  ///< of objects written without one
  std::int64_t metageneration{0};
  std::int64_t project_number{0};
  std::optional<timestamp> created{};
  bool hierarchical{false};
  bool versioning{false};
  bool requester_pays{false};
  bool uniform_access{false};
  /// For how long deleted objects stay, billed, in the background; 0 = not at all.
  std::int64_t soft_delete_seconds{0};
};

struct bucket_request {
  using value = bucket_metadata;

  std::string bucket{};
  call_limits limits{};
};

enum class bucket_kind : std::uint8_t {
  flat,          ///< names are names
  hierarchical,  ///< there are folders, which move as one
};

struct storage_layout {
  bucket_kind kind{bucket_kind::flat};
  std::string location{};
  std::string location_type{};
};

/// How a bucket keeps its objects; needs the permission to list them only. A zonal bucket, whose
/// objects the service does not hand out over HTTP, is errc::unimplemented and says so.
struct storage_layout_request {
  using value = storage_layout;

  std::string bucket{};
  call_limits limits{};
};

/// Which of these permissions ("storage.objects.create") the account has on the bucket.
struct test_permissions_request {
  using value = std::vector<std::string>;

  std::string bucket{};
  /// 1-100.
  std::vector<std::string> permissions{};
  call_limits limits{};
};

/// As store/validate.hpp; patch: a change at all; rewrite: max_bytes_per_request is a multiple of
/// 1 MiB; test_permissions: 1-100 permissions of letters and dots.
result<void> validate(const patch_request& r);
result<void> validate(const rewrite_request& r);
result<void> validate(const bucket_request& r);
result<void> validate(const storage_layout_request& r);
result<void> validate(const test_permissions_request& r);

}  // namespace dataflux::inline DATAFLUX_ABI::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/requests.ipp>
#endif
