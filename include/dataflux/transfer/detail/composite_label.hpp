#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/store/detail/reserved_prefixes.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The name of a composite, and how it is known again, by the process that made it and
/// by those that remove what it has left (transfer/leftovers.hpp). Pure.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// composed_objects_prefix and 128 random bits in hexadecimal: spread over the key space, and never
/// twice the same.
std::string composite_name(std::uint64_t high, std::uint64_t low);
bool is_composite_name(std::string_view name) noexcept;

/// Who made a composite, and until when it may be in use, by the maker's clock. That clock may be
/// wrong: only the span between the two times is relied upon.
struct composite_label {
  std::string creator{};  ///< "dataflux/" and the version
  timestamp created{};
  timestamp expires{};
};

/// Now, for that long.
composite_label make_composite_label(timestamp now, duration lifetime);

/// The label as custom metadata: dataflux-creator, dataflux-created, dataflux-expires (RFC 3339).
std::vector<std::pair<std::string, std::string>> to_metadata(const composite_label& label);
/// Reads it back; nothing if a member is missing or malformed, another creator is named, or it
/// expires before it is created: then the object is none of ours.
std::optional<composite_label> parse_composite_label(
    std::span<const std::pair<std::string, std::string>> metadata);

/// Whether a composite is a leftover at `now`. It was created at `created`; both are by the
/// service's clock, and the label says how long it was to be of use. `older_than`: an age in place
/// of that.
bool composite_expired(const composite_label& label, timestamp created, timestamp now,
                       std::optional<duration> older_than = std::nullopt) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/composite_label.ipp>
#endif
