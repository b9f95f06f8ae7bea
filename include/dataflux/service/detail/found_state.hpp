#pragma once

#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>

/// Reads from services without generations, where each reply names the state of its object by a
/// text: what comes is compared here, and not there.
namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// Errors: unimplemented for conditions on metagenerations, which there are none of.
result<void> check_read_conditions(const preconditions& c);

/// Holds the state that was found against what a stat or a read asked for. Errors: not_found for
/// another generation, which is gone then; failed_precondition; internal for a reply that does not
/// name its object's state where that was needed.
result<void> check_found(std::int64_t found, std::int64_t generation, const preconditions& c);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/service/impl/found_state.ipp>
#endif
