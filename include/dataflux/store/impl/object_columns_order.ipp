#pragma once

#include <dataflux/store/object_columns.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// The order of a listing: names by bytes, then generations.
inline bool comes_before(const column_chunk& a, std::size_t i, const column_chunk& b,
                         std::size_t j) noexcept {
  const int names = a.name(i).compare(b.name(j));
  return names < 0 || (names == 0 && a.generations[i] < b.generations[j]);
}

inline bool is_sorted(const column_chunk& chunk) noexcept {
  for (std::size_t row = 1; row < chunk.rows; ++row) {
    if (comes_before(chunk, row, chunk, row - 1)) return false;
  }
  return true;
}

}  // namespace detail

/// Sorts by moving whole chunks; false, and nothing done, when that is not enough.
DATAFLUX_INLINE bool object_columns::place_chunks() {
  using detail::column_chunk;
  if (!std::all_of(chunks_.begin(), chunks_.end(), detail::is_sorted)) return false;
  std::vector<std::size_t> order(chunks_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return detail::comes_before(chunks_[a], 0, chunks_[b], 0);
  });
  for (std::size_t k = 1; k < order.size(); ++k) {
    const detail::column_chunk& before = chunks_[order[k - 1]];
    if (detail::comes_before(chunks_[order[k]], 0, before, before.rows - 1)) return false;
  }
  std::vector<detail::column_chunk> placed;
  placed.reserve(chunks_.size());
  shrink_to_fit();
  std::size_t rows = 0;
  for (const std::size_t from : order) {
    placed.push_back(std::move(chunks_[from]));
    placed.back().first_row = rows;
    rows += placed.back().rows;
  }
  chunks_ = std::move(placed);
  return true;
}

DATAFLUX_INLINE void object_columns::sort_by_name() {
  if (place_chunks()) return;
  struct place {
    std::uint32_t chunk;
    std::uint32_t row;
  };
  std::vector<place> order;
  order.reserve(size());
  for (std::size_t k = 0; k < chunks_.size(); ++k) {
    for (std::size_t row = 0; row < chunks_[k].rows; ++row) {
      order.push_back({static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(row)});
    }
  }
  std::stable_sort(order.begin(), order.end(), [this](const place& a, const place& b) {
    return detail::comes_before(chunks_[a.chunk], a.row, chunks_[b.chunk], b.row);
  });
  object_columns sorted{extras_};
  for (const place& from : order) {
    const detail::column_chunk& chunk = chunks_[from.chunk];
    sorted.append(chunk.row(from.row), chunk.extras(from.row));
  }
  sorted.shrink_to_fit();
  chunks_.swap(sorted.chunks_);
}

DATAFLUX_INLINE std::size_t object_columns::lower_bound(std::string_view name) const noexcept {
  const auto chunk = std::partition_point(
      chunks_.begin(), chunks_.end(),
      [name](const detail::column_chunk& c) { return c.name(c.rows - 1) < name; });
  if (chunk == chunks_.end()) return size();
  std::size_t from = 0;
  std::size_t to = chunk->rows - 1;  // the last row's name is not less
  while (from < to) {
    const std::size_t middle = from + (to - from) / 2;
    if (chunk->name(middle) < name) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return chunk->first_row + from;
}

DATAFLUX_INLINE std::optional<std::size_t> object_columns::find(
    std::string_view name) const noexcept {
  const std::size_t at = lower_bound(name);
  if (at == size() || this->name(at) != name) return std::nullopt;
  return at;
}

DATAFLUX_INLINE object_columns object_columns::slice(std::size_t first, std::size_t count) const {
  object_columns out{extras_};
  first = std::min(first, size());
  const std::size_t end = first + std::min(count, size() - first);
  if (first == end) return out;
  const detail::column_chunk* from = &chunk_of(first);
  const detail::column_chunk* last = &chunk_of(end - 1);
  out.chunks_.reserve(static_cast<std::size_t>(last - from) + 1);
  for (; from <= last; ++from) {
    detail::column_chunk& part = out.chunks_.emplace_back(*from);
    const std::size_t skip = first > from->first_row ? first - from->first_row : 0;
    part.first_row = from->first_row + skip - first;
    part.rows = std::min(from->rows, end - from->first_row) - skip;
    part.begin += skip;
    part.offsets += skip;
    part.sizes += skip;
    part.generations += skip;
    part.crcs += skip;
    part.storage->shared.store(true, std::memory_order_relaxed);
    part.storage->limit.store(0, std::memory_order_relaxed);
  }
  return out;
}

DATAFLUX_INLINE void object_columns::append_shared(const object_chunk& chunk,
                                                   std::shared_ptr<const void> owner) {
  detail::column_chunk to;
  to.storage = std::make_shared<detail::column_storage>();
  to.storage->owner = std::move(owner);
  to.storage->shared.store(true, std::memory_order_relaxed);
  to.first_row = size();
  to.rows = chunk.rows;
  to.offsets = chunk.offsets.data();
  to.names = chunk.names.data();
  to.sizes = chunk.sizes.data();
  to.generations = chunk.generations.data();
  to.crcs = chunk.crc32c.data();
  // Row 0 of the storage is the bitmaps' first bit, which may be before the first row.
  to.begin = chunk.first_bit;
  to.validity = chunk.crc32c_validity.data();
  extra_columns kept = extra_columns::none;
  for (std::size_t k = 0; k < extra_column_count; ++k) {
    const extra_chunk& from = chunk.extras[k];
    if (!from.kept()) continue;
    if (!to.storage->extras) to.storage->extras = std::make_unique<detail::extra_set>();
    detail::extra_storage& column = (*to.storage->extras)[k];
    const std::size_t width = extra_column_width(k);
    column.offsets = width == 0 ? from.offsets.data() - to.begin : nullptr;
    column.values = from.values.data() - to.begin * width;
    column.validity = from.validity.data();
    kept = kept | extra_column(k);
  }
  if (!chunks_.empty()) seal(chunks_.back());
  chunks_.push_back(std::move(to));
  extras_ = extras_ | kept;
}

}  // namespace dataflux::inline DATAFLUX_ABI
