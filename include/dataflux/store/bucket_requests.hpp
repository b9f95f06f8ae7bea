#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// A bucket's metadata (protocol.md 1.8). Members that the service did not send are empty.
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
  /// Age below which no object can be removed or replaced; 0 = none.
  std::int64_t retention_seconds{0};
  /// New objects can be neither removed nor replaced until their hold is released.
  bool default_event_based_hold{false};
};

struct bucket_request {
  using value = bucket_metadata;

  std::string bucket{};
  call_limits limits{};
};
/// The name, as validate_bucket_name() says.
result<void> validate(const bucket_request& r);

/// One page of a project's buckets.
struct bucket_page {
  std::vector<bucket_metadata> buckets{};
  /// Empty when this was the last page.
  std::string next_page_token{};
};

/// One page of the buckets of a project, in order of names (protocol.md 1.8); needs the permission
/// storage.buckets.list on the project. A verb of gcs::client.
struct list_buckets_request {
  using value = bucket_page;

  /// Empty = the project of the client's credentials, else its quota project; without either
  /// invalid_argument, and nothing is sent.
  std::string project{};
  /// Only names that begin with it.
  std::string prefix{};
  /// From the page before, with everything else unchanged; empty = the first page.
  std::string page_token{};
  /// 1-1000; 0 = 1000. A page may hold fewer and still not be the last.
  std::uint32_t max_results{0};
  call_limits limits{};
};
/// The project is printable ASCII, the prefix text, max_results <= 1000.
result<void> validate(const list_buckets_request& r);

/// All buckets of a project: the same, page after page, as one call under one limit. Only a failed
/// page is requested again.
struct list_all_buckets_request {
  using value = std::vector<bucket_metadata>;

  /// As in list_buckets_request.
  std::string project{};
  std::string prefix{};
  call_limits limits{};
};
/// The same.
result<void> validate(const list_all_buckets_request& r);

enum class bucket_kind : std::uint8_t {
  flat,          ///< names are names
  hierarchical,  ///< there are folders, which move as one
};

struct storage_layout {
  bucket_kind kind{bucket_kind::flat};
  std::string location{};
  std::string location_type{};
};

/// A bucket's storage layout; needs only the permission to list objects. A zonal bucket, whose
/// objects the service does not serve over HTTP, is errc::unimplemented. A verb of gcs::client.
struct storage_layout_request {
  using value = storage_layout;

  std::string bucket{};
  call_limits limits{};
};
/// The name.
result<void> validate(const storage_layout_request& r);

/// Which of these permissions ("storage.objects.create") the account has on the bucket. A verb of
/// gcs::client.
struct test_permissions_request {
  using value = std::vector<std::string>;

  std::string bucket{};
  /// 1-100.
  std::vector<std::string> permissions{};
  call_limits limits{};
};
/// 1-100 permissions of letters and dots.
result<void> validate(const test_permissions_request& r);

/// 3-63 characters of a-z 0-9 - _ . that begin and end with a letter or digit; with dots up to 222,
/// each piece 1-63; not an IPv4 address. Or an ARN, of S3's. Errors: invalid_argument, with what is
/// wrong. Pure; every request with a bucket is checked so before it is sent.
result<void> validate_bucket_name(std::string_view bucket);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/detail/validate.hpp>
#endif
