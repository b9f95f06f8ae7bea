#pragma once

#include <dataflux/download/sweep_report.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>

#include <string>

namespace dataflux::inline DATAFLUX_ABI {

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
