#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/list/detail/manifest_encoder.hpp>
#include <dataflux/store/detail/own_service.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::size_t manifest_block_rows = 65536;

inline manifest_block describe_block(const object_chunk& chunk) noexcept {
  manifest_block block;
  block.rows = static_cast<std::uint32_t>(chunk.rows);
  block.name_bytes = static_cast<std::uint32_t>(chunk.names.size());
  if (!chunk.crc32c_validity.empty()) block.flags |= manifest_gaps_flag;
  for (std::size_t k = 0; k < extra_column_count; ++k) {
    const extra_chunk& extra = chunk.extras[k];
    if (!extra.kept()) continue;
    block.flags |= manifest_extra_flag(k);
    if (!extra.validity.empty()) block.flags |= manifest_extra_gaps_flag(k);
    if (extra_column_width(k) == 0) {
      block.text_bytes[k - manifest_first_text] = static_cast<std::uint32_t>(extra.values.size());
    }
  }
  return block;
}

DATAFLUX_INLINE void manifest_frame::count(manifest_block block) {
  block.begin = frame_.written();
  const auto entry = manifest_entry(block);
  frame_.count({entry.data(), entry.size()}, block.bytes, block.rows);
}

DATAFLUX_INLINE void manifest_frame::append_copy(const manifest_block& block, bytes_view bytes,
                                                 std::string& out) {
  out.append(as_text(bytes));
  count(block);
}

DATAFLUX_INLINE void manifest_frame::append_block(const object_chunk& chunk, std::string& out) {
  manifest_block block = describe_block(chunk);
  const manifest_layout layout{block};
  const std::size_t begin = out.size();
  out.resize(begin + layout.end, '\0');
  const auto put = [&](std::size_t at, auto column) {
    if (column.size_bytes() != 0) {
      std::memcpy(out.data() + begin + at, column.data(), column.size_bytes());
    }
  };
  put(layout.sizes, chunk.sizes);
  put(layout.generations, chunk.generations);
  put(layout.crcs, chunk.crc32c);
  put(layout.offsets, chunk.offsets);
  put(layout.validity, chunk.crc32c_validity);
  put(layout.names, chunk.names);
  for (std::size_t k = 0; k < extra_column_count; ++k) {
    put(layout.extras[k].offsets, chunk.extras[k].offsets);
    put(layout.extras[k].validity, chunk.extras[k].validity);
    put(layout.extras[k].values, chunk.extras[k].values);
  }
  block.bytes = layout.end;
  block.crc = crc32c(as_bytes({out.data() + begin, layout.end}));
  count(block);
}

DATAFLUX_INLINE result<void> manifest_encoder::take_rows(object_columns& block) {
  const std::size_t count = std::min(manifest_block_rows, rows_.size() - taken_);
  block.reserve(count);
  for (std::size_t i = 0; i < count; ++i, ++next_, ++taken_) {
    const object_row row = *next_;
    if (!codec::is_valid_utf8(row.name)) {
      return error{errc::invalid_argument, "the name of row " + std::to_string(taken_) +
                                               " is not UTF-8, as all names of objects are"};
    }
    const int names = last_.name.compare(row.name);
    if (taken_ != 0 && (names > 0 || (names == 0 && last_.generation >= row.generation))) {
      return error{errc::invalid_argument,
                   "a manifest is in order of names and generations, but row " +
                       std::to_string(taken_) +
                       " is not behind the one before it; sort the rows by name first"};
    }
    if (rows_.kept() == extra_columns::none) {
      block.append(row.name, row.size, row.generation, row.crc32c);
    } else {
      block.append(row, next_.extras());
    }
    last_ = row;
  }
  return {};
}

DATAFLUX_INLINE void manifest_frame::append_rest(const manifest_description& description,
                                                 std::string& out) {
  frame_.append_rest(write_manifest_description(description), out);
}

inline bool is_utf8(const manifest_description& d) {
  bool good = true;
  for (const std::string* text :
       {&d.bucket, &d.prefix, &d.start_offset, &d.end_offset, &d.match_glob}) {
    good &= codec::is_valid_utf8(*text);
  }
  for (const auto& [name, value] : d.options) {
    good &= codec::is_valid_utf8(name) && codec::is_valid_utf8(value);
  }
  return good;
}

DATAFLUX_INLINE result<void> check_description(const manifest_description& description) {
  if (auto good = codec::check_block_file_order(manifest_kind); !good) return good;
  if (!is_scheme(description.scheme)) {
    return error{errc::invalid_argument, "a manifest's scheme is such as \"gs\""};
  }
  if (is_utf8(description)) return {};
  return error{errc::invalid_argument, "a manifest's description must be UTF-8"};
}

DATAFLUX_INLINE result<void> manifest_encoder::append_to(std::string& out) {
  if (!frame_.begun()) {
    if (auto good = check_description(description_); !good) return good;
    frame_.append_head(out);
  }
  if (taken_ == rows_.size()) {
    frame_.append_rest(description_, out);
    done_ = true;
    return {};
  }
  object_columns block{rows_.kept()};
  if (auto good = take_rows(block); !good) return good;
  // More than one chunk where names turned out longer than those before.
  for (std::size_t k = 0; k < block.chunk_count(); ++k) frame_.append_block(block.chunk(k), out);
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
