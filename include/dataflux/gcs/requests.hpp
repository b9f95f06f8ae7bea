#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/bucket_requests.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/preconditions.hpp>
#include <dataflux/store/requests.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What those verbs of gcs::client take and give that other stores do not have; written as
/// store/requests.hpp says.
namespace dataflux::inline DATAFLUX_ABI::gcs {

// Those that memory_store has, too: store/requests.hpp, store/bucket_requests.hpp.
using dataflux::bucket_metadata;
using dataflux::bucket_request;
using dataflux::rewrite_request;

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

/// As store/validate.hpp; patch: a change at all; test_permissions: 1-100 permissions of letters
/// and dots.
result<void> validate(const patch_request& r);
result<void> validate(const storage_layout_request& r);
result<void> validate(const test_permissions_request& r);

}  // namespace dataflux::inline DATAFLUX_ABI::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/requests.ipp>
#endif
