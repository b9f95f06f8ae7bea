#pragma once

#include <dataflux/codec/utf8.hpp>
#include <dataflux/list/detail/page_check.hpp>
#include <dataflux/list/list_filter.hpp>

#include <algorithm>
#include <optional>
#include <regex>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

struct list_filter::rules {
  list_filter_options options{};
  std::optional<std::regex> expression{};
  /// Nothing but markers and composed objects is to be dropped, as by default.
  bool plain{true};

  /// With plain rules: the sum of the sizes if every row stays.
  std::optional<std::uint64_t> bytes_if_all_stay(const object_columns& rows) const;

  /// The count to raise when the row is to be dropped; null when it stays. Throws what the
  /// expression throws.
  std::uint64_t list_dropped::*reason(const object_columns& rows, std::size_t i,
                                      const object_row& row) const;
};

DATAFLUX_INLINE list_dropped& list_dropped::operator+=(const list_dropped& other) noexcept {
  markers += other.markers;
  composed += other.composed;
  suffix += other.suffix;
  size += other.size;
  storage_class += other.storage_class;
  regex += other.regex;
  return *this;
}

DATAFLUX_INLINE std::uint64_t list_dropped::*list_filter::rules::reason(
    const object_columns& rows, std::size_t i, const object_row& row) const {
  const list_filter_options& o = options;
  if (o.skip_markers && row.size == 0 && row.name.ends_with('/')) return &list_dropped::markers;
  if (o.skip_composed && is_reserved_name(row.name)) {
    return &list_dropped::composed;
  }
  if (!row.name.ends_with(o.suffix)) return &list_dropped::suffix;
  if (row.size < o.min_size || row.size > o.max_size) return &list_dropped::size;
  if (!o.storage_classes.empty() &&
      std::find(o.storage_classes.begin(), o.storage_classes.end(), rows.extras(i).storage_class) ==
          o.storage_classes.end()) {
    return &list_dropped::storage_class;
  }
  if (expression && !std::regex_search(row.name.begin(), row.name.end(), *expression)) {
    return &list_dropped::regex;
  }
  return nullptr;
}

DATAFLUX_INLINE std::optional<std::uint64_t> list_filter::rules::bytes_if_all_stay(
    const object_columns& rows) const {
  std::uint64_t bytes = 0;
  for (std::size_t c = 0; c < rows.chunk_count(); ++c) {
    const object_chunk chunk = rows.chunk(c);
    const char* const names = chunk.names.data();
    for (std::size_t i = 0; i < chunk.rows; ++i) {
      const std::int32_t from = chunk.offsets[i];
      const std::int32_t to = chunk.offsets[i + 1];
      bytes += chunk.sizes[i];
      if (chunk.sizes[i] == 0 && to > from && names[to - 1] == '/' && options.skip_markers) {
        return std::nullopt;
      }
      if (to > from && names[from] == composed_objects_prefix.front() && options.skip_composed &&
          is_reserved_name({names + from, static_cast<std::size_t>(to - from)})) {
        return std::nullopt;
      }
    }
  }
  return bytes;
}

DATAFLUX_INLINE list_filter::list_filter() : rules_(std::make_shared<const rules>()) {}

DATAFLUX_INLINE result<list_filter> list_filter::create(const list_filter_options& options) {
  const auto bad = [](std::string what) {
    return error{errc::invalid_argument, "filter: " + std::move(what)};
  };
  if (options.min_size > options.max_size) {
    return bad("min_size " + std::to_string(options.min_size) + " is above max_size " +
               std::to_string(options.max_size));
  }
  if (!codec::is_valid_utf8(options.suffix)) {
    return bad("suffix " + detail::in_quotes(options.suffix) + " is not UTF-8");
  }
  for (const std::string& name : options.storage_classes) {
    if (name.empty()) return bad("a storage class is empty");
  }
  auto made = std::make_shared<rules>();
  made->options = options;
  made->plain = options.suffix.empty() && options.regex.empty() && options.min_size == 0 &&
                options.max_size == UINT64_MAX && options.storage_classes.empty();
  if (!options.regex.empty()) {
    try {
      made->expression.emplace(options.regex, std::regex::ECMAScript | std::regex::optimize);
    } catch (const std::regex_error& e) {
      return bad("regex " + detail::in_quotes(options.regex) + ": " + e.what());
    }
  }
  return list_filter{std::move(made)};
}

DATAFLUX_INLINE result<list_filter::outcome> list_filter::apply(const object_columns& rows) const {
  outcome out;
  const auto total = rows.size();
  if (rules_->plain) {
    if (const auto bytes = rules_->bytes_if_all_stay(rows)) {
      return outcome{.kept = rows.slice(0, total), .bytes = *bytes, .dropped = {}};
    }
  }
  bool copying = false;  // from the first row on that is dropped
  std::size_t i = 0;
  std::string_view at;
  try {
    for (auto it = rows.begin(); it != rows.end(); ++it, ++i) {
      const object_row row = *it;
      at = row.name;
      const auto reason = rules_->reason(rows, i, row);
      if (reason == nullptr) {
        out.bytes += row.size;
        if (copying) out.kept.append(row, it.extras());
        continue;
      }
      ++(out.dropped.*reason);
      if (copying) continue;
      copying = true;
      out.kept = object_columns(rows.kept());
      out.kept.reserve(total);
      const auto stop = it;
      for (auto before = rows.begin(); before != stop; ++before) {
        out.kept.append(*before, before.extras());
      }
    }
  } catch (const std::regex_error& e) {
    return error{errc::invalid_argument,
                 "filter: regex on the name " + detail::in_quotes(at) + ": " + e.what()};
  }
  if (copying) {
    out.kept.shrink_to_fit();
  } else {
    out.kept = rows.slice(0, total);
  }
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI
