#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// What a member's name says, to the letter as webdataset 1.0.2 reads it.
///
/// Errors: none. Any bytes are a name.
///
/// Lifetime: views are of the name that was given, or of the memory.
///
/// Threads: pure functions.
///
/// Cost: linear in the name, no allocation.
namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Whether a member is in a sample, or why not. It is asked in this order.
enum class membership : std::uint8_t {
  sample,    ///< it has a key and a field
  hidden,    ///< "__name__", or below a first component "__name__"
  no_field,  ///< no dot where a field could begin
};

/// The key and the field as they are written. Both are empty unless `kind` is `sample`; a field may
/// be empty all the same ("a."), a key may not.
struct sample_name {
  std::string_view key{};
  std::string_view field{};
  membership kind{membership::sample};
};

/// Splits a name at the first dot of its last component.
///
/// A component that begins with a dot has nothing before it; its folder is the key then, with the
/// slash, unless a dot is in that, too: "dir/.a" is ("dir/", "a"). This follows from webdataset's
/// pattern, as does that a slash behind the first line break of a name ends no folder there.
sample_name split_name(std::string_view name) noexcept;

/// The field in lower case. A field with a byte that is not ASCII is returned as it is. `memory`
/// is written where a letter changes, and grows with the longest field.
std::string_view lower_field(std::string_view field, std::string& memory);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/sample_name.ipp>
#endif
