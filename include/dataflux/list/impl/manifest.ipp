#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/exec/detail/mapped_file.hpp>
#include <dataflux/list/detail/manifest_format.hpp>
#include <dataflux/list/manifest.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

namespace dataflux::inline DATAFLUX_ABI {

struct manifest::state {
  std::string shown_as{};
  bytes_view bytes{};
  std::shared_ptr<const void> owner{};
  manifest_description description{};
  std::size_t rows{0};
  std::vector<detail::manifest_block> blocks{};
  std::vector<std::size_t> first_rows{};
  std::size_t block_of(std::size_t row) const noexcept;
  /// Blocks that were checked and found good. Two threads may check the same block: no harm.
  std::unique_ptr<std::atomic<bool>[]> good {};

  result<void> read(bytes_view whole);
  result<void> read_table(const detail::codec::block_file_end& end);
  result<void> check(std::size_t block) const;
};

namespace detail {

/// Rows in order of names, and of generations within a name, as an encoder takes them.
inline bool are_in_order(const object_chunk& chunk) noexcept {
  object_row last = chunk.row(0);
  for (std::size_t i = 1; i < chunk.rows; ++i) {
    const object_row row = chunk.row(i);
    const int order = last.name.compare(row.name);
    if (order > 0 || (order == 0 && last.generation >= row.generation)) return false;
    last = row;
  }
  return true;
}

inline bool are_names(const object_chunk& chunk) noexcept {
  if (!codec::is_valid_utf8({chunk.names.data(), chunk.names.size()})) return false;
  // Nor is a character cut in two.
  return std::all_of(chunk.offsets.begin(), chunk.offsets.end() - 1, [&](std::int32_t begin) {
    const auto at = static_cast<std::size_t>(begin);
    return at >= chunk.names.size() ||
           (static_cast<unsigned char>(chunk.names[at]) & 0xc0U) != 0x80;
  });
}

inline std::string name_block(std::size_t block, std::size_t first_row, std::size_t rows) {
  return "block " + std::to_string(block) + " (rows " + std::to_string(first_row) + " to " +
         std::to_string(first_row + rows - 1) + ")";
}

/// An entry that says nothing impossible, of a block that ends where the next begins.
inline bool is_possible(const manifest_block& block, std::size_t begin, std::size_t end) noexcept {
  constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
  if (block.begin != begin || block.rows == 0 || block.rows > most - 1) return false;
  if (block.name_bytes > most || (block.flags & ~manifest_all_flags) != 0) return false;
  if (std::any_of(block.text_bytes.begin(), block.text_bytes.end(),
                  [](std::uint32_t bytes) { return bytes > most; })) {
    return false;
  }
  return block.bytes == manifest_layout{block}.end && block.bytes <= end - begin;
}

}  // namespace detail

DATAFLUX_INLINE result<void> manifest::state::read_table(const detail::codec::block_file_end& end) {
  constexpr std::size_t piece = detail::codec::block_file_piece;
  const auto table = detail::codec::block_file_table(detail::manifest_kind, bytes, end);
  if (!table) return table.error();
  blocks.reserve(end.blocks);
  first_rows.reserve(end.blocks);
  std::size_t begin = piece;
  for (std::size_t i = 0; i < end.blocks; ++i) {
    blocks.push_back(detail::read_manifest_block(table->subspan(i * piece, piece)));
    if (!detail::is_possible(blocks.back(), begin, end.description_begin)) {
      return detail::damaged_manifest("its table is wrong about block " + std::to_string(i));
    }
    first_rows.push_back(rows);
    rows += blocks.back().rows;
    begin += blocks.back().bytes;
  }
  if (rows != end.rows) return detail::damaged_manifest("its blocks do not add up to its rows");
  good = std::make_unique<std::atomic<bool>[]>(blocks.size());
  return {};
}

DATAFLUX_INLINE result<void> manifest::state::check(std::size_t index) const {
  if (good[index].load(std::memory_order_relaxed)) return {};
  const detail::manifest_block& block = blocks[index];
  const auto name = [&] { return detail::name_block(index, first_rows[index], block.rows); };
  if (crc32c(bytes.subspan(block.begin, block.bytes)) != block.crc) {
    return detail::damaged_manifest("the checksum of " + name() + " does not match");
  }
  const object_chunk chunk = detail::manifest_chunk(bytes, block);
  bool sound = detail::codec::are_ascending(chunk.offsets, block.name_bytes);
  for (const extra_chunk& extra : chunk.extras) {
    if (!extra.offsets.empty()) {
      sound &= detail::codec::are_ascending(extra.offsets, extra.values.size());
    }
  }
  if (!sound) return detail::damaged_manifest("the offsets of " + name() + " are impossible");
  if (!detail::are_names(chunk)) {
    return detail::damaged_manifest(name() + " has names that are not UTF-8");
  }
  if (!detail::are_in_order(chunk)) {
    return detail::damaged_manifest(name() + " is not in order of names and generations");
  }
  good[index].store(true, std::memory_order_relaxed);
  return {};
}

DATAFLUX_INLINE result<void> manifest::state::read(bytes_view whole) {
  if (reinterpret_cast<std::uintptr_t>(whole.data()) % 8 != 0) {
    return error{errc::invalid_argument, "a manifest's address must be a multiple of 8"};
  }
  const auto end = detail::codec::read_block_file_end(detail::manifest_kind, whole);
  if (!end) return end.error();
  bytes = whole;
  if (auto table = read_table(*end); !table) return table;
  const auto text = detail::codec::block_file_description(detail::manifest_kind, bytes, *end);
  if (!text) return text.error();
  auto read = detail::read_manifest_description(*text);
  if (!read) return std::move(read).error();
  description = *std::move(read);
  return {};
}

DATAFLUX_INLINE result<manifest> manifest::over(bytes_view bytes, std::shared_ptr<const void> owner,
                                                std::string shown_as) {
  const auto made = std::make_shared<state>();
  made->shown_as = std::move(shown_as);
  made->owner = std::move(owner);
  if (auto read = made->read(bytes); !read) {
    return detail::codec::of_block_file(made->shown_as, std::move(read).error());
  }
  return manifest{made};
}

DATAFLUX_INLINE result<manifest> manifest::open(const std::string& path) {
  std::shared_ptr<const void> owner;
  const auto bytes = detail::map_file(path, "manifest", owner);
  if (!bytes) return bytes.error();
  return over(*bytes, std::move(owner), "'" + path + "'");
}

DATAFLUX_INLINE const manifest_description& manifest::description() const noexcept {
  return state_->description;
}
DATAFLUX_INLINE std::size_t manifest::size() const noexcept { return state_->rows; }
DATAFLUX_INLINE std::size_t manifest::bytes() const noexcept { return state_->bytes.size(); }

/// Of a row that is there.
DATAFLUX_INLINE std::size_t manifest::state::block_of(std::size_t row) const noexcept {
  const auto after = std::upper_bound(first_rows.begin(), first_rows.end(), row);
  return static_cast<std::size_t>(after - first_rows.begin()) - 1;
}

DATAFLUX_INLINE result<object_row> manifest::row(std::size_t i) const {
  const state& s = *state_;
  if (i >= s.rows) {
    return error{errc::out_of_range, "row " + std::to_string(i) + " of a manifest of " +
                                         std::to_string(s.rows) + " rows"};
  }
  const std::size_t block = s.block_of(i);
  if (auto good = s.check(block); !good) {
    return detail::codec::of_block_file(s.shown_as, std::move(good).error());
  }
  return detail::manifest_chunk(s.bytes, s.blocks[block]).row(i - s.first_rows[block]);
}

DATAFLUX_INLINE result<object_columns> manifest::rows(std::size_t first, std::size_t count) const {
  const state& s = *state_;
  object_columns out;
  first = std::min(first, s.rows);
  const std::size_t end = first + std::min(count, s.rows - first);
  if (first == end) return out;
  std::size_t block = s.block_of(first);
  const std::size_t skipped = s.first_rows[block];
  for (; block < s.blocks.size() && s.first_rows[block] < end; ++block) {
    if (auto good = s.check(block); !good) {
      return detail::codec::of_block_file(s.shown_as, std::move(good).error());
    }
    out.append_shared(detail::manifest_chunk(s.bytes, s.blocks[block]), s.owner);
  }
  if (first == skipped && out.size() == end - first) return out;
  return out.slice(first - skipped, end - first);
}

DATAFLUX_INLINE result<listing_changes> manifest::changes_to(const object_columns& later) const {
  const auto earlier = rows();
  if (!earlier) return earlier.error();
  return compare_listings(*earlier, later, description().versions);
}

}  // namespace dataflux::inline DATAFLUX_ABI
