#pragma once

#include <dataflux/list/detail/manifest_joiner.hpp>
#include <dataflux/list/detail/page_check.hpp>
#include <dataflux/list/impl/manifest.ipp>

#include <algorithm>
#include <numeric>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline name_range names_of(const manifest_description& d) {
  return name_range::of_prefix(d.prefix).intersect({d.start_offset, d.end_offset});
}

/// The first thing by which two parts show that they are of different listings; null if there is
/// none.
inline const char* difference_of(const manifest_description& a, const manifest_description& b) {
  if (a.bucket != b.bucket) return "bucket";
  if (a.prefix != b.prefix) return "prefix";
  if (a.match_glob != b.match_glob) return "match_glob";
  if (a.versions != b.versions) return "versions";
  return a.options == b.options ? nullptr : "options";
}

inline error not_joined(std::string why) {
  return error{errc::invalid_argument, std::move(why.insert(0, "manifests are not joined: "))};
}
/// For a message: names from `from` up to `to`.
inline std::string between(const std::string& from, const std::string& to) {
  return "the names from " + in_quotes(from) + (to.empty() ? " on" : " to " + in_quotes(to));
}

DATAFLUX_INLINE std::string manifest_joiner::shown(const manifest& m, std::size_t number) {
  const std::string& name = m.state_->shown_as;
  return name.empty() ? "part " + std::to_string(number) : name;
}

/// The extra columns of its blocks; all have the same, since they were saved together.
DATAFLUX_INLINE std::uint32_t manifest_joiner::columns_of(const manifest& m) noexcept {
  constexpr std::uint32_t extras = 0x3FU << 8U;
  return m.state_->blocks.empty() ? 0 : m.state_->blocks.front().flags & extras;
}

DATAFLUX_INLINE result<void> manifest_joiner::check_alike(std::span<const manifest> parts) {
  std::size_t with_rows = parts.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto refuse = [&](std::size_t other, const std::string& what) {
      return not_joined(shown(parts[other], other) + " and " + shown(parts[i], i) +
                        " were listed with different " + what);
    };
    if (const char* what = difference_of(parts[0].description(), parts[i].description())) {
      return refuse(0, what);
    }
    if (parts[i].size() == 0) continue;
    if (with_rows == parts.size()) with_rows = i;
    if (columns_of(parts[with_rows]) != columns_of(parts[i])) return refuse(with_rows, "columns");
  }
  return {};
}

/// That the parts, in order, are `all`.
DATAFLUX_INLINE result<void> manifest_joiner::check_cover(const name_range& all) const {
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    const name_range& left = parts_[i - 1].names;
    const name_range& right = parts_[i].names;
    if (!left.bounded() || right.start < left.end) {
      return not_joined(shown_[i - 1] + " and " + shown_[i] + " overlap: both have " +
                        between(right.start, left.end));
    }
    if (left.end < right.start) {
      return not_joined("between " + shown_[i - 1] + " and " + shown_[i] + ", " +
                        between(left.end, right.start) + " are in none");
    }
  }
  const auto edge = [&](std::size_t at, const char* where, const std::string& names) {
    return not_joined(std::string(where) + shown_[at] + ", " + names + " are in none");
  };
  const auto outside = [&](std::size_t at) {
    return not_joined(shown_[at] + " has names that the whole, " + between(all.start, all.end) +
                      ", does not have");
  };
  const name_range& first = parts_.front().names;
  const name_range& last = parts_.back().names;
  const std::size_t end = parts_.size() - 1;
  if (first.start > all.start) return edge(0, "before ", between(all.start, first.start));
  if (first.start < all.start) return outside(0);
  if (last.end == all.end) return {};
  if (!last.bounded() || (all.bounded() && last.end > all.end)) return outside(end);
  return edge(end, "behind ", between(last.end, all.end));
}

DATAFLUX_INLINE result<manifest_joiner> manifest_joiner::of(std::span<const manifest> parts,
                                                            const name_range& whole) {
  if (parts.empty()) return not_joined("there are none");
  if (auto alike = check_alike(parts); !alike) return std::move(alike).error();
  manifest_joiner made{parts.front().description()};
  manifest_description& d = made.description_;
  d.start_offset = whole.start;
  d.end_offset = whole.end;
  if (auto good = check_description(d); !good) return std::move(good).error();
  std::vector<name_range> names;
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const manifest& m : parts) {
    names.push_back(names_of(m.description()));
    d.taken = std::min(d.taken, m.description().taken);
  }
  std::stable_sort(order.begin(), order.end(), [&names](std::size_t a, std::size_t b) {
    return names[a].start < names[b].start;
  });
  for (const std::size_t i : order) {
    // A rank that had nothing to list has nothing to say about the others.
    if (names[i].empty() && parts[i].size() == 0) continue;
    made.shown_.push_back(shown(parts[i], i));
    made.parts_.push_back({parts[i], std::move(names[i])});
  }
  const name_range all = names_of(d);
  if (made.parts_.empty()) {
    if (all.empty()) return made;
    return not_joined(between(all.start, all.end) + " are in none");
  }
  if (auto cover = made.check_cover(all); !cover) return std::move(cover).error();
  return made;
}

/// Within a block rows are in order, since a checked block is as it was saved.
DATAFLUX_INLINE result<void> manifest_joiner::check_rows(const name_range& names,
                                                         const object_chunk& rows) {
  const object_row first = rows.row(0);
  const object_row last = rows.row(rows.rows - 1);
  const auto wrong = [](const std::string& what) {
    return damaged_manifest("it has " + what + " and says otherwise");
  };
  if (!names.contains(first.name) || !names.contains(last.name)) {
    const std::string_view name = names.contains(first.name) ? last.name : first.name;
    return wrong("the name " + in_quotes(name));
  }
  if (any_) {
    const int order = std::string_view(last_name_).compare(first.name);
    if (order > 0 || (order == 0 && last_generation_ >= first.generation)) {
      return wrong(in_quotes(first.name) + " behind " + in_quotes(last_name_));
    }
  }
  last_name_.assign(last.name);
  last_generation_ = last.generation;
  any_ = true;
  return {};
}

DATAFLUX_INLINE result<void> manifest_joiner::append_block(const manifest& of, std::size_t block,
                                                           const name_range& names,
                                                           const std::string& shown,
                                                           std::string& out) {
  const manifest::state& from = *of.state_;
  const manifest_block& b = from.blocks[block];
  auto good = from.check(block);
  if (good) good = check_rows(names, manifest_chunk(from.bytes, b));
  if (!good) {
    error why = std::move(good).error();
    return of_manifest(shown, std::move(why));
  }
  frame_.append_copy(b, from.bytes.subspan(b.begin, b.bytes), out);
  return {};
}

DATAFLUX_INLINE result<void> manifest_joiner::append_to(std::string& out) {
  if (!frame_.begun()) frame_.append_head(out);
  while (next_ < parts_.size() && block_ == parts_[next_].of.state_->blocks.size()) {
    ++next_;
    block_ = 0;
  }
  if (next_ == parts_.size()) {
    append_end(out);
    return {};
  }
  const part& p = parts_[next_];
  return append_block(p.of, block_++, p.names, shown_[next_], out);
}

DATAFLUX_INLINE result<void> manifest_joiner::append_part(const manifest& of,
                                                          const name_range& names,
                                                          std::string& out) {
  const std::string name = shown(of, 0);
  if (!frame_.begun()) frame_.append_head(out);
  if (const char* what = difference_of(description_, of.description())) {
    return of_manifest(name, damaged_manifest(std::string("it has another ") + what));
  }
  for (std::size_t block = 0; block < of.state_->blocks.size(); ++block) {
    if (auto good = append_block(of, block, names, name, out); !good) return good;
  }
  return {};
}

DATAFLUX_INLINE void manifest_joiner::append_end(std::string& out) {
  if (!frame_.begun()) frame_.append_head(out);
  frame_.append_rest(description_, out);
  done_ = true;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
