#pragma once

#include <dataflux/service/detail/found_state.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

DATAFLUX_INLINE result<void> check_read_conditions(const preconditions& c) {
  if (!c.if_metageneration_match && !c.if_metageneration_not_match) return {};
  return error{errc::unimplemented, "conditions: this service has no metagenerations"};
}

DATAFLUX_INLINE result<void> check_found(std::int64_t found, std::int64_t generation,
                                         const preconditions& c) {
  const bool asked = generation != 0 || c.if_generation_match || c.if_generation_not_match;
  if (!asked) return {};
  if (found == 0) {
    return error{
        errc::internal,
        "the reply does not name its object's state (an ETag, a version), so that nobody can "
        "tell one from another"};
  }
  if (generation != 0 && generation != found) {
    return std::move(
        error{errc::not_found, "this state of the object is gone: it was replaced or deleted"}
            .with_generation(generation));
  }
  const bool unmet = (c.if_generation_match && *c.if_generation_match != found) ||
                     (c.if_generation_not_match && *c.if_generation_not_match == found);
  if (!unmet) return {};
  return error{errc::failed_precondition,
               "a condition of the call does not hold: the object is not what was expected"};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
