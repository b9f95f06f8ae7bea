#pragma once

#include <dataflux/error.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What list_checkpoint_sets(), keep_last_checkpoint_sets() and remove_checkpoint_set() tell.
namespace dataflux::inline DATAFLUX_ABI {

struct checkpoint_set_info {
  /// With its slash, such as "run/step-10/".
  std::string prefix{};
  /// Below the prefix.
  std::string last{};
  /// When the last object was created, by the service's clock.
  std::optional<timestamp> committed{};
  std::uint64_t members{0};
  std::uint64_t bytes{0};  ///< of members
};

struct damaged_checkpoint_set {
  checkpoint_set_info set{};
  /// What is missing, or has changed since the commit.
  error why;
};

struct checkpoint_set_list {
  /// The oldest commit first.
  std::vector<checkpoint_set_info> complete{};
  /// Their last object is there, but not all of the rest.
  std::vector<damaged_checkpoint_set> damaged{};
  /// Prefixes with a manifest and without its last object: a commit that is under way or was given
  /// up, or a removal that was. Members alone are not known as those of a set.
  std::vector<std::string> unfinished{};
};

struct failed_removal {
  std::string name{};
  error why;
};

struct removal_report {
  std::uint64_t objects{0};
  std::uint64_t bytes{0};
  /// Prefixes of sets whose last objects are gone.
  std::vector<std::string> sets{};
  /// What was to go and could not be removed.
  std::vector<failed_removal> failures{};
  /// Objects that were not tried because of those failures: the set's own, when its last object
  /// stays; the manifest, when a member does.
  std::uint64_t spared{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI
