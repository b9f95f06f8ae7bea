#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What sweep_composites() is told, and what it tells.
namespace dataflux::inline DATAFLUX_ABI {

struct sweep_options {
  /// Takes composites of this age, by the service's clock, instead of those whose own time has
  /// passed (compose_options::lifetime). 0 = all of them.
  std::optional<duration> older_than{};
  /// Removes nothing, and tells what would be.
  bool dry_run{false};
  /// Of the whole sweep.
  call_limits limits{};
};

/// What lay below composed_objects_prefix.
enum class sweep_verdict : std::uint8_t {
  removed,  ///< with dry_run: would be
  young,    ///< a composite that may be in use
  foreign,  ///< no composite of ours: another name, or without our label
  failed,   ///< could not be removed
};

struct swept_object {
  std::string name{};
  std::uint64_t size{0};
  std::int64_t generation{0};
  /// By the service's clock.
  std::optional<timestamp> created{};
  sweep_verdict verdict{sweep_verdict::foreign};
  /// Why it was not removed, where that failed.
  std::optional<error> failure{};
};

struct sweep_report {
  /// In order of names.
  std::vector<swept_object> objects{};
  std::uint64_t removed{0};
  std::uint64_t removed_bytes{0};
  std::uint64_t young{0};
  std::uint64_t foreign{0};
  std::uint64_t failed{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI
