#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What list_checkpoint_sets(), keep_last_checkpoint_sets() and remove_checkpoint_set() take and
/// tell.
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

struct unfinished_checkpoint_set {
  /// With its slash.
  std::string prefix{};
  std::uint64_t objects{0};
  std::uint64_t bytes{0};
  /// When the last of them was written, and how long before the listing that was, both by the
  /// service's clock; nothing where it does not tell.
  std::optional<timestamp> written{};
  std::optional<duration> age{};
};

struct checkpoint_set_list {
  /// The oldest commit first.
  std::vector<checkpoint_set_info> complete{};
  /// Their last object is there, but not all of the rest.
  std::vector<damaged_checkpoint_set> damaged{};
  /// Members or manifests below a prefix without a last object: a save, a commit or a removal that
  /// is under way or was given up. Members are known by what checkpoint_set::open_member() writes
  /// into their metadata; parts of a member that is not whole yet are not looked at.
  std::vector<unfinished_checkpoint_set> unfinished{};
};

struct keep_last_options {
  /// Unfinished sets for which nothing was written for longer go, too: choose more than a save
  /// takes, such as a day, for one that is under way would be damaged. Nothing: they stay. None
  /// goes where the service does not tell the time.
  std::optional<duration> remove_unfinished_older_than{};
};

struct failed_removal {
  std::string name{};
  error why;
};

struct removal_report {
  std::uint64_t objects{0};
  std::uint64_t bytes{0};
  /// Prefixes of sets whose last objects are gone, and of unfinished ones.
  std::vector<std::string> sets{};
  /// What was to go and could not be removed.
  std::vector<failed_removal> failures{};
  /// Objects that were not tried because of those failures: the set's own, when its last object
  /// stays; the manifest, when a member does.
  std::uint64_t spared{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI
