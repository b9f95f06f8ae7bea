#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace dataflux::inline DATAFLUX_ABI {

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

}  // namespace dataflux::inline DATAFLUX_ABI
