#pragma once

#include <dataflux/config.hpp>

#include <cstdint>
#include <optional>

namespace dataflux::inline DATAFLUX_ABI {

/// Conditions under which a call takes effect (protocol.md 1.2, 1.3). One that does not hold makes
/// the call fail with errc::failed_precondition (errc::already_exists for a create-only write) and
/// changes nothing.
struct preconditions {
  /// The live generation must be this one; 0 = the object must not exist (create only).
  std::optional<std::int64_t> if_generation_match{};
  std::optional<std::int64_t> if_generation_not_match{};
  std::optional<std::int64_t> if_metageneration_match{};
  std::optional<std::int64_t> if_metageneration_not_match{};

  bool any() const noexcept {
    return if_generation_match || if_generation_not_match || if_metageneration_match ||
           if_metageneration_not_match;
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI
