#pragma once

#include <dataflux/detail/config.hpp>

#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Below it lie objects that were composed for a download and removed after it; what is still there
/// is in use, or a leftover (transfer/leftovers.hpp).
inline constexpr std::string_view composed_objects_prefix = "dataflux-composed-objects/";

/// Below it lie objects that were uploaded and have not got their own name yet. What is still there
/// is on its way, or a leftover of a process that was killed (transfer/leftovers.hpp).
inline constexpr std::string_view temporary_objects_prefix = "dataflux-uploads/";

/// What an object's name begins with, in its folder, by which a server is asked whether it keeps
/// conditions. It is removed in the end. Of an object of a save over a set it is the set's folder.
inline constexpr std::string_view condition_scratch_name = ".dataflux-conditions-";
/// In whichever folder it lies.
constexpr bool is_condition_scratch_name(std::string_view name) noexcept {
  return name.substr(name.rfind('/') + 1).starts_with(condition_scratch_name);
}

/// What the folder of a save over a set begins with. Nobody looks into one that was not committed.
inline constexpr std::string_view save_folder_prefix = ".dataflux-save-";

/// Below one of them.
constexpr bool is_reserved_name(std::string_view name) noexcept {
  return name.starts_with(composed_objects_prefix) || name.starts_with(temporary_objects_prefix);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
