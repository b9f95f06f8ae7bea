#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// What a bulk restore has done.
struct restored_objects {
  /// The service's id of the operation.
  std::string operation{};
  std::uint64_t restored{0};
  /// Soft-deleted generations that were not wanted, or that a live object stands in the way of.
  std::uint64_t skipped{0};
  /// Those that the service could not restore; its audit log says why.
  std::uint64_t failed{0};
};

/// Brings soft-deleted objects of a bucket back (protocol.md 1.7): of each name the last generation
/// that meets all conditions, as a new generation. The service works on it by itself, for minutes
/// at least; the call asks how it stands, more and more rarely, and ends when it is done. Needs a
/// soft delete policy on the bucket. A verb of gcs::client.
///
/// Errors: invalid_argument without a soft delete policy; cancelled for an operation that somebody
/// has cancelled. A call that ends early, by its time limit or a stop, leaves the operation going
/// on in the service. What could not be restored is no error: see restored_objects::failed.
struct bulk_restore_request {
  using value = restored_objects;

  std::string bucket{};
  /// Names, by the patterns of list_page_request::match_glob; empty = all. At most 1,000.
  std::vector<std::string> match_globs{};
  /// Only what was soft-deleted, or created, after and before these times.
  std::optional<timestamp> deleted_after{};
  std::optional<timestamp> deleted_before{};
  std::optional<timestamp> created_after{};
  std::optional<timestamp> created_before{};
  /// Replaces live objects of the same names. Else their deleted generations stay deleted.
  bool overwrite{false};
  call_limits limits{};
};

/// Names, patterns of UTF-8 of at most 1,024 bytes, and times in their order.
result<void> validate(const bulk_restore_request& r);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/restore_request.ipp>
#endif
