#pragma once

#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/list/detail/manifest_format.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/store/detail/own_service.hpp>

#include <algorithm>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE manifest_layout::manifest_layout(const manifest_block& block) noexcept {
  const std::size_t rows = block.rows;
  const std::size_t bitmap = (rows + 7) / 8;
  const auto place = [this](std::size_t& at, std::size_t bytes) {
    at = codec::block_file_aligned(end);
    end = at + bytes;
  };
  place(sizes, 8 * rows);
  place(generations, 8 * rows);
  place(crcs, 4 * rows);
  place(offsets, 4 * (rows + 1));
  if (block.has_gaps()) place(validity, bitmap);
  place(names, block.name_bytes);
  for (std::size_t k = 0; k < extra_column_count; ++k) {
    if (!block.has_extra(k)) continue;
    if (extra_column_width(k) == 0) place(extras[k].offsets, 4 * (rows + 1));
    if (block.has_extra_gaps(k)) place(extras[k].validity, bitmap);
    place(extras[k].values, block.value_bytes(k));
  }
  end = codec::block_file_aligned(end);
}

DATAFLUX_INLINE manifest_block read_manifest_block(bytes_view entry) noexcept {
  using codec::load_at;
  manifest_block block;
  block.begin = load_at<std::uint64_t>(entry, 0);
  block.bytes = load_at<std::uint64_t>(entry, 8);
  block.rows = load_at<std::uint32_t>(entry, 16);
  block.name_bytes = load_at<std::uint32_t>(entry, 20);
  block.flags = load_at<std::uint32_t>(entry, 24);
  block.crc = load_at<std::uint32_t>(entry, 28);
  for (std::size_t i = 0; i < block.text_bytes.size(); ++i) {
    block.text_bytes[i] = load_at<std::uint32_t>(entry, 32 + 4 * i);
  }
  return block;
}

DATAFLUX_INLINE std::array<char, codec::block_file_piece> manifest_entry(
    const manifest_block& block) noexcept {
  using codec::store_at;
  std::array<char, codec::block_file_piece> to{};
  store_at(to.data(), 0, block.begin);
  store_at(to.data(), 8, block.bytes);
  store_at(to.data(), 16, block.rows);
  store_at(to.data(), 20, block.name_bytes);
  store_at(to.data(), 24, block.flags);
  store_at(to.data(), 28, block.crc);
  for (std::size_t i = 0; i < block.text_bytes.size(); ++i) {
    store_at(to.data(), 32 + 4 * i, block.text_bytes[i]);
  }
  return to;
}

DATAFLUX_INLINE std::string write_manifest_description(const manifest_description& d) {
  codec::json_writer json;
  json.begin_object().key("bucket").string(d.bucket).key("prefix").string(d.prefix);
  json.key("startOffset").string(d.start_offset).key("endOffset").string(d.end_offset);
  json.key("matchGlob").string(d.match_glob).key("versions").boolean(d.versions);
  if (d.scheme != usual_scheme) json.key("scheme").string(d.scheme);
  json.key("taken").string(to_string(d.taken)).key("options").begin_object();
  for (const auto& [name, value] : d.options) json.key(name).string(value);
  json.end_object().end_object();
  return std::move(json).take();
}

DATAFLUX_INLINE result<manifest_description> read_manifest_description(bytes_view text) {
  const auto json = codec::json_document::parse(text);
  if (!json) return damaged_manifest("its description is not JSON");
  const codec::json_value root = json->root();
  manifest_description d;
  const std::pair<const char*, std::string*> texts[] = {{"bucket", &d.bucket},
                                                        {"prefix", &d.prefix},
                                                        {"startOffset", &d.start_offset},
                                                        {"endOffset", &d.end_offset},
                                                        {"matchGlob", &d.match_glob}};
  for (const auto& [key, to] : texts) {
    const auto value = root.find(key).text();
    if (!value) return damaged_manifest(std::string{"its description lacks "}.append(key));
    *to = *value;
  }
  auto scheme = scheme_in(root);
  if (!scheme) return damaged_manifest("its description names no service");
  d.scheme = *std::move(scheme);
  d.versions = root.find("versions").boolean().value_or(false);
  const auto taken = parse_timestamp(root.find("taken").text().value_or(""));
  if (!taken) return damaged_manifest("its description lacks the time");
  d.taken = *taken;
  for (const auto& [name, value] : root.find("options").members()) {
    d.options.emplace_back(name, value.text().value_or(""));
  }
  return d;
}

DATAFLUX_INLINE object_chunk manifest_chunk(bytes_view whole,
                                            const manifest_block& block) noexcept {
  const manifest_layout layout{block};
  const std::byte* base = whole.data() + block.begin;
  const auto column = [base](std::size_t at, std::size_t count, auto kind) {
    return std::span{reinterpret_cast<const decltype(kind)*>(base + at), count};
  };
  const std::size_t rows = block.rows;
  const auto bitmap = [&](bool there, std::size_t at) {
    return there ? column(at, (rows + 7) / 8, std::uint8_t{}) : std::span<const std::uint8_t>{};
  };
  object_chunk chunk{.first_row = 0,
                     .rows = rows,
                     .offsets = column(layout.offsets, rows + 1, std::int32_t{}),
                     .names = column(layout.names, block.name_bytes, char{}),
                     .sizes = column(layout.sizes, rows, std::uint64_t{}),
                     .generations = column(layout.generations, rows, std::int64_t{}),
                     .crc32c = column(layout.crcs, rows, std::uint32_t{}),
                     .crc32c_validity = bitmap(block.has_gaps(), layout.validity),
                     .first_bit = 0,
                     .extras = {}};
  for (std::size_t k = 0; k < extra_column_count; ++k) {
    if (!block.has_extra(k)) continue;
    const manifest_layout::extra& at = layout.extras[k];
    if (extra_column_width(k) == 0) {
      chunk.extras[k].offsets = column(at.offsets, rows + 1, std::int32_t{});
    }
    chunk.extras[k].validity = bitmap(block.has_extra_gaps(k), at.validity);
    chunk.extras[k].values = column(at.values, block.value_bytes(k), char{});
  }
  return chunk;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
