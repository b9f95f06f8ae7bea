#pragma once

#include <dataflux/list/detail/manifest_joiner.hpp>
#include <dataflux/list/impl/manifest.ipp>

#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The first thing by which two parts show that they are of different listings; null if there is
/// none.
inline const char* difference_of(const manifest_description& a, const manifest_description& b) {
  if (a.scheme != b.scheme) return "service";
  if (a.bucket != b.bucket) return "bucket";
  if (a.prefix != b.prefix) return "prefix";
  if (a.match_glob != b.match_glob) return "match_glob";
  if (a.versions != b.versions) return "versions";
  return a.options == b.options ? nullptr : "options";
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
                                                           std::string& out) {
  const manifest::state& from = *of.state_;
  const manifest_block& b = from.blocks[block];
  auto good = from.check(block);
  if (good) good = check_rows(names, manifest_chunk(from.bytes, b));
  if (!good) return codec::of_block_file(from.shown_as, std::move(good).error());
  frame_.append_copy(b, from.bytes.subspan(b.begin, b.bytes), out);
  return {};
}

DATAFLUX_INLINE result<void> manifest_joiner::append_part(const manifest& of,
                                                          const name_range& names,
                                                          std::string& out) {
  if (!frame_.begun()) frame_.append_head(out);
  if (const char* what = difference_of(description_, of.description())) {
    return codec::of_block_file(of.state_->shown_as,
                                damaged_manifest(std::string("it has another ") + what));
  }
  for (std::size_t block = 0; block < of.state_->blocks.size(); ++block) {
    if (auto good = append_block(of, block, names, out); !good) return good;
  }
  return {};
}

DATAFLUX_INLINE void manifest_joiner::append_end(std::string& out) {
  if (!frame_.begun()) frame_.append_head(out);
  frame_.append_rest(description_, out);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
