#pragma once

#include <dataflux/shard/detail/shard_layout.hpp>

#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// The first thing by which the samples of a shard are not those that were indexed, for an error;
/// empty where there is none. What an index does not know, such as checksums, is no difference.
std::string difference_of(const shard_layout& indexed, const shard_layout& found);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/layout_difference.ipp>
#endif
