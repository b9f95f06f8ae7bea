#pragma once

#include <dataflux/codec/timestamp.hpp>
#include <dataflux/store/object_chunk.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_store.hpp>

#include <chrono>
#include <optional>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// An object as a listing shows it.
struct listed_state {
  object_row row{};
  std::optional<timestamp> created{};
};

/// Whether a copy need not be made again, as far as two listings tell. Where a service's
/// generations are made of ETags, equal ones mean equal bytes. Where neither tells, the target was
/// written after the source: by so much later that two clocks of a service agree on it.
inline bool same_content(const listed_state& source, const listed_state& target,
                         const store_traits& traits) {
  constexpr std::chrono::minutes agreed_later{1};
  if (source.row.size != target.row.size) return false;
  if (source.row.crc32c && target.row.crc32c) return source.row.crc32c == target.row.crc32c;
  if (!traits.ordered_generations && source.row.generation == target.row.generation) return true;
  return source.created && target.created && *target.created >= *source.created + agreed_later;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
