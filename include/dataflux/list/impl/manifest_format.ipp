#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/list/detail/manifest_format.hpp>
#include <dataflux/list/manifest.hpp>

#include <algorithm>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE manifest_layout::manifest_layout(const manifest_block& block) noexcept {
  const std::size_t rows = block.rows;
  const std::size_t bitmap = (rows + 7) / 8;
  const auto place = [this](std::size_t& at, std::size_t bytes) {
    at = manifest_aligned(end);
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
  end = manifest_aligned(end);
}

DATAFLUX_INLINE manifest_block read_manifest_block(bytes_view entry) noexcept {
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

DATAFLUX_INLINE void append_manifest_block(std::string& out, const manifest_block& block) {
  std::array<char, manifest_piece> to{};
  store_at(to.data(), 0, block.begin);
  store_at(to.data(), 8, block.bytes);
  store_at(to.data(), 16, block.rows);
  store_at(to.data(), 20, block.name_bytes);
  store_at(to.data(), 24, block.flags);
  store_at(to.data(), 28, block.crc);
  for (std::size_t i = 0; i < block.text_bytes.size(); ++i) {
    store_at(to.data(), 32 + 4 * i, block.text_bytes[i]);
  }
  out.append(to.data(), to.size());
}

DATAFLUX_INLINE void append_manifest_head(std::string& out) {
  std::array<char, manifest_piece> to{};
  std::copy(manifest_magic.begin(), manifest_magic.end(), to.begin());
  store_at(to.data(), 8, manifest_version);
  store_at(to.data(), 60, crc32c(as_bytes({to.data(), 60})));
  out.append(to.data(), to.size());
}

DATAFLUX_INLINE void append_manifest_end(std::string& out, const manifest_end& end) {
  std::array<char, manifest_piece> to{};
  store_at(to.data(), 0, end.bytes);
  store_at(to.data(), 8, end.rows);
  store_at(to.data(), 16, end.table_begin);
  store_at(to.data(), 24, end.description_begin);
  store_at(to.data(), 32, end.description_bytes);
  store_at(to.data(), 36, end.blocks);
  store_at(to.data(), 40, end.table_crc);
  store_at(to.data(), 44, end.description_crc);
  store_at(to.data(), 52, crc32c(as_bytes({to.data(), 52})));
  std::copy(manifest_end_magic.begin(), manifest_end_magic.end(), to.begin() + 56);
  out.append(to.data(), to.size());
}

inline result<void> check_manifest_head(bytes_view whole) {
  const std::string_view start =
      as_text(whole.first(std::min(whole.size(), manifest_magic.size())));
  if (start.empty() || !manifest_magic.starts_with(start)) {
    return error{errc::invalid_argument, "not a manifest: it begins otherwise"};
  }
  if (whole.size() < manifest_piece) {
    return error{errc::data_loss, "the manifest is truncated: " + std::to_string(whole.size()) +
                                      " bytes are less than its head"};
  }
  if (load_at<std::uint32_t>(whole, 60) != crc32c(whole.first(60))) {
    return damaged_manifest("the checksum of its head does not match");
  }
  const auto version = load_at<std::uint32_t>(whole, 8);
  if (version != manifest_version) {
    return error{errc::unimplemented, "the manifest has format version " + std::to_string(version) +
                                          ", this library reads " +
                                          std::to_string(manifest_version)};
  }
  if constexpr (!manifest_order_is_native) {
    return error{errc::unimplemented, "manifests are for little-endian machines"};
  }
  return {};
}

DATAFLUX_INLINE result<manifest_end> read_manifest_end(bytes_view whole) {
  if (auto good = check_manifest_head(whole); !good) return std::move(good).error();
  const std::size_t at = whole.size() - manifest_piece;
  const bytes_view last = whole.subspan(at);
  if (at < manifest_piece || as_text(last.subspan(56)) != manifest_end_magic) {
    return error{errc::data_loss, "the manifest is truncated: " + std::to_string(whole.size()) +
                                      " bytes, and the last of them are not its end"};
  }
  if (load_at<std::uint32_t>(last, 52) != crc32c(last.first(52))) {
    return damaged_manifest("the checksum of its end does not match");
  }
  manifest_end end;
  end.bytes = load_at<std::uint64_t>(last, 0);
  end.rows = load_at<std::uint64_t>(last, 8);
  end.table_begin = load_at<std::uint64_t>(last, 16);
  end.description_begin = load_at<std::uint64_t>(last, 24);
  end.description_bytes = load_at<std::uint32_t>(last, 32);
  end.blocks = load_at<std::uint32_t>(last, 36);
  end.table_crc = load_at<std::uint32_t>(last, 40);
  end.description_crc = load_at<std::uint32_t>(last, 44);
  if (end.bytes != whole.size()) {
    return damaged_manifest("it has " + std::to_string(whole.size()) + " bytes where " +
                            std::to_string(end.bytes) + " were written");
  }
  const bool inside = end.description_begin >= manifest_piece && end.description_begin <= at &&
                      end.description_bytes <= at - end.description_begin &&
                      end.table_begin >= manifest_piece && end.table_begin <= at &&
                      end.blocks == (at - end.table_begin) / manifest_piece;
  if (!inside) return damaged_manifest("its end names places outside of it");
  return end;
}

DATAFLUX_INLINE std::string write_manifest_description(const manifest_description& d) {
  codec::json_writer json;
  json.begin_object().key("bucket").string(d.bucket).key("prefix").string(d.prefix);
  json.key("startOffset").string(d.start_offset).key("endOffset").string(d.end_offset);
  json.key("matchGlob").string(d.match_glob).key("versions").boolean(d.versions);
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
