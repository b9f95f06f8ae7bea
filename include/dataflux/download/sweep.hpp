#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

/// Removes composites that killed processes have left in `bucket`: objects whose names are those of
/// composites, that bear our label (download/composite.hpp), and whose time has passed. Anything
/// else below the prefix is left alone, and reported.
///
/// Ages are told by the service: from when it created the object to when it answered the listing
/// (list_page::served), so that a wrong clock here or where the composite was made does no harm.
/// A store that does not tell the time is asked with the clock of this machine.
///
/// Safe beside running jobs: each object is removed by its generation, one that somebody else has
/// removed meanwhile counts as removed, and a job whose composite is taken away, as with older_than
/// it may be, reads the objects one by one.
///
/// Errors: those of the listing, and limits; what could not be removed is in the report. Cost: a
/// listing of the prefix; removals, 16 at a time, are free of charge (protocol.md 3.4).
result<sweep_report> sweep_composites(object_store& store, const std::string& bucket,
                                      sweep_options options = {});
operation<sweep_report> submit_sweep_composites(object_store& store, const std::string& bucket,
                                                sweep_options options = {});

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/sweep.ipp>
#endif
