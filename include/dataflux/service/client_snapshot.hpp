#pragma once

#include <dataflux/observer.hpp>

#include <string>

namespace dataflux::inline DATAFLUX_ABI {

/// One JSON object with the members of client_snapshot, times in nanoseconds. A histogram has its
/// count, sum, the quantiles 0.5, 0.9 and 0.99, and those buckets that are not empty as pairs of
/// limit and count; null = longer than 137 s. `memory` and `cache` may be null.
std::string to_json(const client_snapshot& seen);
/// The same in Prometheus' text format (version 0.0.4), names begin with "dataflux_". Times are in
/// seconds, and a histogram has one bucket for each doubling.
std::string to_prometheus(const client_snapshot& seen);

namespace detail {
/// A JSON object.
std::string json_of(const cache_counters& seen);
}  // namespace detail

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/service/impl/client_snapshot.ipp>
#endif
