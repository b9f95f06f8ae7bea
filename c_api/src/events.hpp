#pragma once

#include "client.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace dataflux_c {

/// Where progress is told, if it is `wanted`; null if not. Errors: failed_precondition where the
/// client keeps no events.
result<std::shared_ptr<dataflux::event_ring>> progress_ring(const dataflux_client* client,
                                                            bool wanted);

/// For the `progress` of a request, which may be the last to have the ring; empty without one.
std::function<void(std::uint64_t)> progress_of(std::shared_ptr<dataflux::event_ring> ring,
                                               std::string what, std::string bucket,
                                               std::string object);

}  // namespace dataflux_c
