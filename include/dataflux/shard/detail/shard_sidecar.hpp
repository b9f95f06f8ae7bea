#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/detail/shard_packer.hpp>
#include <dataflux/shard/detail/shard_pattern.hpp>
#include <dataflux/shard/detail/shard_plan.hpp>
#include <dataflux/store/object_chunk.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// The index entry of one shard, which a writer puts beside it before the shard is there. It is an
/// index of that shard alone, with its size and CRC32C. The generation is 0, since nobody knows it
/// yet: such an entry is joined with the listing into an index, and read by nobody before.
namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// The same shard gives the same bytes. Errors (invalid_argument): the name is not UTF-8.
result<std::string> encode_sidecar(std::string_view scheme, const std::string& bucket,
                                   std::string_view name, const packed_shard& shard);

/// How many samples the shard of this row has by its entry. `entry` is at a multiple of 8.
///
/// Errors: those of a damaged index; failed_precondition: it is of another shard, or of other
/// bytes.
result<std::uint64_t> samples_of_sidecar(bytes_view entry, const object_row& shard);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/shard_sidecar.ipp>
#endif
