#pragma once

#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/list/detail/manifest_encoder.hpp>
#include <dataflux/list/detail/share_record.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE std::string write_share_record(const share_record& record) {
  codec::json_writer w;
  w.begin_object().key("part").string(record.part).key("pieces").begin_array();
  for (const share_piece& p : record.pieces) {
    w.begin_array().string(p.names.start).string(p.names.end);
    w.natural(p.offset).natural(p.bytes).natural(p.rows).end_array();
  }
  w.end_array().key("left").begin_array();
  for (const name_range& r : record.left) {
    w.begin_array().string(r.start).string(r.end).end_array();
  }
  w.end_array().end_object();
  return std::move(w).take();
}

inline error damaged_record() {
  return error{errc::data_loss, "an object of the board is not what this library writes"};
}

DATAFLUX_INLINE result<share_record> read_share_record(bytes_view text) {
  const auto json = codec::json_document::parse(text);
  if (!json) return damaged_record();
  const auto part = json->root().find("part").text();
  if (!part) return damaged_record();
  share_record record{.part = std::string(*part)};
  const auto range_of = [](const std::vector<codec::json_value>& of) -> std::optional<name_range> {
    if (of.size() < 2 || !of[0].text() || !of[1].text()) return std::nullopt;
    return name_range{std::string(*of[0].text()), std::string(*of[1].text())};
  };
  for (const codec::json_value& each : json->root().find("pieces").elements()) {
    const std::vector<codec::json_value> values = each.elements();
    auto names = range_of(values);
    if (!names || values.size() < 5) return damaged_record();
    const auto offset = values[2].uint64();
    const auto bytes = values[3].uint64();
    const auto rows = values[4].uint64();
    if (!offset || !bytes || !rows) return damaged_record();
    record.pieces.push_back({*std::move(names), *offset, *bytes, *rows});
  }
  for (const codec::json_value& each : json->root().find("left").elements()) {
    auto names = range_of(each.elements());
    if (!names) return damaged_record();
    record.left.push_back(*std::move(names));
  }
  return record;
}

DATAFLUX_INLINE std::optional<share_mark> find_share_mark(std::string_view metadata_column) {
  const auto json = codec::json_document::parse(as_bytes(metadata_column));
  if (!json) return std::nullopt;
  const auto children = json->root().find(share_children).uint64();
  const auto rows = json->root().find(share_rows).uint64();
  constexpr std::uint64_t most = 1'000'000;  // more than a record can have that is read
  if (!children || *children > most || !rows) return std::nullopt;
  return share_mark{static_cast<std::size_t>(*children), *rows,
                    std::string(json->root().find(share_token).text().value_or("")),
                    json->root().find(share_part_bytes).uint64().value_or(0)};
}

DATAFLUX_INLINE manifest_description share_description(const manifest_description& listing,
                                                       extra_columns extra) {
  manifest_description d = listing;
  d.taken = {};
  d.options.emplace_back("columns", std::to_string(static_cast<std::uint32_t>(extra)));
  return d;
}

DATAFLUX_INLINE std::string share_difference(const manifest_description& a,
                                             const manifest_description& b) {
  if (a.scheme != b.scheme) return "service";
  if (a.bucket != b.bucket) return "bucket";
  if (a.prefix != b.prefix) return "prefix";
  if (a.start_offset != b.start_offset) return "start_offset";
  if (a.end_offset != b.end_offset) return "end_offset";
  if (a.match_glob != b.match_glob) return "match_glob";
  if (a.versions != b.versions) return "versions";
  for (const auto* one : {&a, &b}) {
    const auto& other = one == &a ? b.options : a.options;
    for (const auto& option : one->options) {
      if (std::find(other.begin(), other.end(), option) == other.end()) return option.first;
    }
  }
  return a.options == b.options ? std::string{} : "options";
}

DATAFLUX_INLINE result<share_result> make_share(const manifest_description& of,
                                                const name_range& names, const object_columns& rows,
                                                std::vector<name_range> left) {
  share_result out;
  const auto piece = [&](const std::string& start, const std::string& end) -> result<void> {
    if (name_range{start, end}.empty()) return {};
    const std::size_t first = rows.lower_bound(start);
    const std::size_t behind = end.empty() ? rows.size() : rows.lower_bound(end);
    share_piece p{{start, end}, out.bytes.size(), 0, behind - first};
    if (p.rows > 0) {
      manifest_description d = of;
      d.start_offset = start;
      d.end_offset = end;
      manifest_encoder encoder(d, rows.slice(first, p.rows));
      std::string bytes;
      while (!encoder.done()) {
        if (auto good = encoder.append_to(bytes); !good) return good;
      }
      p.bytes = bytes.size();
      out.bytes += bytes;
      out.rows += p.rows;
    }
    out.record.pieces.push_back(std::move(p));
    return {};
  };
  std::string start = names.start;
  for (const name_range& rest : left) {
    if (rest.start > start) {
      if (auto good = piece(start, rest.start); !good) return good.error();
    }
    start = rest.end;
  }
  // Without an end nothing lies behind the last rest.
  if (left.empty() || !start.empty()) {
    if (auto good = piece(start, names.end); !good) return good.error();
  }
  out.record.left = std::move(left);
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
