#pragma once

#include <dataflux/store/object_columns.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

/// Which rows of a listing are shards, and how they are divided among processes. Pure.
namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// What a writer calls the index of one shard: the shard's name, and this.
inline constexpr std::string_view sidecar_suffix = ".dfx";

struct planned_shard {
  static constexpr std::size_t none = SIZE_MAX;
  std::size_t row{0};
  std::size_t sidecar{none};  ///< the row of the index beside it
};

/// The shards of a listing, in its order. A row "NAME.dfx" is no shard but an index, which belongs
/// to the row "NAME" if there is one.
std::vector<planned_shard> plan_shards(const object_columns& rows);

/// Rows "NAME.dfx" without their shard: a writer that was killed leaves one.
std::uint64_t orphans_of(const object_columns& rows, const std::vector<planned_shard>& plan);

/// The first shard of each task: neighbours of 2 GiB together, or more where there would be over
/// `most` tasks. A shard that is larger is a task alone.
std::vector<std::size_t> cut_by_bytes(const object_columns& rows,
                                      const std::vector<planned_shard>& plan, std::size_t most);

/// Tells a listing from others: names, sizes and generations of its shards.
std::uint64_t digest_of(const object_columns& rows, const std::vector<planned_shard>& plan);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/shard_plan.ipp>
#endif
