#pragma once

#include <dataflux/detail/text.hpp>
#include <dataflux/list/detail/name_range.hpp>
#include <dataflux/list/detail/page_check.hpp>

#include <algorithm>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::size_t longest_listed_name = 1024;

DATAFLUX_INLINE void list_position::advance(const object_columns& objects,
                                            std::span<const std::string> prefixes) {
  if (!objects.empty()) {
    object = objects.last_name();
    generation = objects.generation(objects.size() - 1);
  }
  if (!prefixes.empty()) prefix = prefixes.back();
}

DATAFLUX_INLINE std::optional<std::string> list_position::rest(const std::string& start,
                                                               bool inclusive) const {
  if (!begun()) return start;
  std::string next(last());
  // No offset may be longer than the longest name; what is above that one begins otherwise.
  if (!inclusive && (next == prefix || next.size() >= longest_listed_name)) {
    next = after_prefix(next);
    if (next.empty()) return std::nullopt;
  } else if (!inclusive) {
    next = successor(next);
  }
  return std::max(start, next);
}

DATAFLUX_INLINE std::string in_quotes(std::string_view text) {
  std::string out{"'"};
  append_escaped(out, text.substr(0, 200));
  return out.append(text.size() > 200 ? "...'" : "'");
}

inline error bad_page(std::string_view what, std::string_view name, std::string_view rule,
                      std::string_view other) {
  std::string message{"a page of the listing broke its contract: "};
  message.append(what).append(1, ' ').append(in_quotes(name)).append(1, ' ').append(rule);
  return error{errc::internal, message.append(1, ' ').append(in_quotes(other))};
}

/// The first row that does not lie behind the one before; size() if all do.
inline std::size_t first_disorder(const object_columns& objects, bool versions) {
  std::string_view before;
  std::int64_t generation = 0;
  for (std::size_t c = 0; c < objects.chunk_count(); ++c) {
    const object_chunk chunk = objects.chunk(c);
    const char* const names = chunk.names.data();
    for (std::size_t i = 0; i < chunk.rows; ++i) {
      const std::string_view name(
          names + chunk.offsets[i],
          static_cast<std::size_t>(chunk.offsets[i + 1] - chunk.offsets[i]));
      const int order = before.compare(name);
      if (order > 0 || (order == 0 && !(versions && chunk.generations[i] > generation))) {
        return chunk.first_row + i;
      }
      before = name;
      generation = chunk.generations[i];
    }
  }
  return objects.size();
}

inline result<void> check_objects(const object_columns& objects, const list_page_request& asked,
                                  const list_position* behind) {
  if (objects.empty()) return {};
  const std::string_view first = objects.name(0);
  const std::string_view last = objects.last_name();
  if (const std::size_t i = first_disorder(objects, asked.versions); i < objects.size()) {
    return bad_page("object", objects.name(i), "is not behind",
                    i == 0 ? std::string_view{} : objects.name(i - 1));
  }
  if (behind != nullptr) {
    if (behind->has(first, objects.generation(0), asked.versions) || first < behind->prefix) {
      return bad_page("object", first, "is not behind", behind->last());
    }
  }
  if (first < asked.start_offset) {
    return bad_page("object", first, "is before the start", asked.start_offset);
  }
  if (!asked.end_offset.empty() && last >= asked.end_offset) {
    return bad_page("object", last, "is not before the end", asked.end_offset);
  }
  // Between two names with a prefix lie only names with it.
  for (const std::string_view name : {first, last}) {
    if (!name.starts_with(asked.prefix)) {
      return bad_page("object", name, "lacks the prefix", asked.prefix);
    }
  }
  return {};
}

inline result<void> check_prefixes(const std::vector<std::string>& prefixes,
                                   const list_page_request& asked, const list_position* behind) {
  if (prefixes.empty()) return {};
  if (asked.delimiter.empty()) {
    return bad_page("prefix", prefixes.front(), "came without", "delimiter");
  }
  const auto disorder =
      std::adjacent_find(prefixes.begin(), prefixes.end(), std::greater_equal<>{});
  if (disorder != prefixes.end()) {
    return bad_page("prefix", *(disorder + 1), "is not behind", *disorder);
  }
  const std::string& first = prefixes.front();
  if (behind != nullptr && (first <= behind->prefix || first < behind->object)) {
    return bad_page("prefix", first, "is not behind", behind->last());
  }
  // What is folded into the first one may begin before the start.
  if (first < asked.start_offset && !asked.start_offset.starts_with(first)) {
    return bad_page("prefix", first, "is before the start", asked.start_offset);
  }
  if (!asked.end_offset.empty() && prefixes.back() >= asked.end_offset) {
    return bad_page("prefix", prefixes.back(), "is not before the end", asked.end_offset);
  }
  for (const std::string& prefix : prefixes) {
    if (!prefix.starts_with(asked.prefix) || prefix == asked.prefix ||
        !prefix.ends_with(asked.delimiter)) {
      return bad_page("prefix", prefix, "is not one of", asked.prefix);
    }
  }
  return {};
}

DATAFLUX_INLINE result<void> check_page(const list_page& page, const list_page_request& asked,
                                        const list_position* behind) {
  if (!asked.page_token.empty() && page.next_page_token == asked.page_token) {
    return error{errc::internal, "the listing does not advance: a page names itself as the next"};
  }
  if (auto good = check_objects(page.objects, asked, behind); !good) return good;
  return check_prefixes(page.prefixes, asked, behind);
}

DATAFLUX_INLINE page_part new_part(const list_page& page, const list_position& position,
                                   std::string_view start, std::string_view end, bool versions) {
  const object_columns& rows = page.objects;
  page_part part;
  std::size_t last = rows.size();
  if (!position.object.empty() && !rows.empty() && rows.name(0) <= position.object) {
    part.first_object = rows.lower_bound(position.object);
    while (part.first_object < last && position.has(rows.name(part.first_object),
                                                    rows.generation(part.first_object), versions)) {
      ++part.first_object;
    }
  }
  if (!start.empty()) part.first_object = std::max(part.first_object, rows.lower_bound(start));
  if (!end.empty() && !rows.empty() && rows.last_name() >= end) last = rows.lower_bound(end);
  last = std::max(last, part.first_object);
  part.objects = last - part.first_object;

  const auto begin = page.prefixes.begin();
  auto from = std::upper_bound(begin, page.prefixes.end(), position.prefix);
  from = std::lower_bound(from, page.prefixes.end(), start);
  auto to = page.prefixes.end();
  if (!end.empty()) to = std::lower_bound(from, to, end);
  part.first_prefix = static_cast<std::size_t>(from - begin);
  part.prefixes = static_cast<std::size_t>(to - from);
  part.beyond = rows.size() - last + static_cast<std::size_t>(page.prefixes.end() - to);
  return part;
}

DATAFLUX_INLINE void sample_entries(const object_columns& objects,
                                    std::span<const std::string> prefixes, std::uint64_t stride,
                                    std::vector<std::string_view>& out) {
  out.clear();
  const std::size_t total = objects.size() + prefixes.size();
  if (total == 0) return;
  if (prefixes.empty()) {
    for (std::uint64_t row = 0; row + 1 < total; row += stride) out.push_back(objects.name(row));
    out.push_back(objects.last_name());
    return;
  }
  std::size_t object = 0;
  std::size_t prefix = 0;
  for (std::size_t entry = 0; entry < total; ++entry) {
    const bool is_object = prefix == prefixes.size() ||
                           (object < objects.size() && objects.name(object) < prefixes[prefix]);
    if (entry % stride == 0 || entry + 1 == total) {
      out.push_back(is_object ? objects.name(object) : std::string_view(prefixes[prefix]));
    }
    ++(is_object ? object : prefix);
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
