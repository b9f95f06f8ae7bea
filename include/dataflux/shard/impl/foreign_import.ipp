#pragma once

#include <dataflux/codec/detail/block_file.hpp>
#include <dataflux/detail/text_hash.hpp>
#include <dataflux/shard/detail/index_rules.hpp>
#include <dataflux/shard/detail/sample_grouper.hpp>
#include <dataflux/shard/detail/shard_index_encoder.hpp>
#include <dataflux/shard/detail/shard_layout.hpp>
#include <dataflux/shard/foreign_index.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::shard {

/// Members become samples by their names, as an indexer does it.
///
/// Where the headers of a member begin others do not say. Right behind the member before it may
/// stand headers of its own, or of links, so a sample begins there.
class foreign_layout {
 public:
  foreign_layout(const grouping_rules& rules, std::uint64_t size) : size_(size), grouper_(rules) {}

  result<void> add(const foreign_member& member);
  /// Behind the last member there is no more than the end of an archive.
  result<void> check_end() const;
  shard_layout take() {
    layout_.groups = grouper_.counts();
    return std::move(layout_);
  }

 private:
  const std::uint64_t size_;
  sample_grouper grouper_;
  shard_layout layout_{};
  std::map<std::string, std::uint32_t, std::less<>> fields_{};
  std::uint64_t end_{0};    ///< of the member before
  std::uint64_t begin_{0};  ///< of the sample
  bool open_{false};        ///< it has a member
};

DATAFLUX_INLINE result<void> foreign_layout::add(const foreign_member& member) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool inside = size_ <= most && member.offset % tar_block == 0 && member.offset <= size_ &&
                      member.size <= size_ - member.offset && member.offset >= end_ + tar_block &&
                      member.offset / tar_block <= std::numeric_limits<std::uint32_t>::max();
  if (!inside) {
    return error{errc::data_loss,
                 "a member lies outside of the shard, or in another one; index "
                 "the shard itself"};
  }
  const std::uint64_t begin = end_;
  end_ = std::min(member.offset + member.size + tar_padding(member.size), size_);
  const auto grouped = grouper_.add(member.name, {begin, end_ - begin});
  if (!grouped) return grouped.error();
  if (grouped->begins) {
    begin_ = begin;
    open_ = false;
  }
  if (!grouped->taken) return {};
  if (!std::exchange(open_, true)) {
    layout_.hashes.push_back(mixed_hash(grouper_.key()));
    layout_.begins.push_back(static_cast<std::uint32_t>(begin_ / tar_block));
    layout_.first_members.push_back(static_cast<std::uint32_t>(layout_.member_sizes.size()));
  }
  const auto known = fields_.find(grouped->field);
  const std::uint32_t field =
      known != fields_.end() ? known->second : static_cast<std::uint32_t>(fields_.size());
  if (known == fields_.end()) {
    fields_.emplace(grouped->field, field);
    layout_.fields.emplace_back(grouped->field);
    layout_.field_bytes += field_memory(grouped->field);
  }
  layout_.member_sizes.push_back(member.size);
  layout_.member_offsets.push_back(
      static_cast<std::uint32_t>((member.offset - begin_) / tar_block));
  layout_.member_fields.push_back(field);
  return {};
}

/// Two blocks of zeros, and up to a whole record of tar's, which is 20 blocks.
inline constexpr std::uint64_t most_end = 2 * tar_block + 20 * tar_block - tar_block;

DATAFLUX_INLINE result<void> foreign_layout::check_end() const {
  if (size_ - end_ <= most_end) return {};
  return error{errc::failed_precondition,
               "behind the last member of the index the shard has " + std::to_string(size_ - end_) +
                   " bytes, more than the end of an archive: the index is stale or not whole; "
                   "index the shard itself"};
}

inline std::string_view last_part(std::string_view name) noexcept {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

/// What a URL or an absolute path says of where a shard lies, without the machine's name. Empty for
/// a name that is relative to something.
inline std::string_view place_of_url(std::string_view name) noexcept {
  const std::size_t scheme = name.find("://");
  if (scheme == std::string_view::npos) return name.starts_with('/') ? name : std::string_view{};
  const std::string_view path = name.substr(scheme + 2);
  return name.starts_with("http") ? path.substr(0, path.find_first_of("?#")) : path;
}

/// How many parts, from the last one on, two names have in common.
inline std::size_t common_parts(std::string_view a, std::string_view b) noexcept {
  for (std::size_t count = 0;; ++count) {
    if (last_part(a) != last_part(b) || last_part(a).empty()) return count;
    const std::size_t part = last_part(a).size();
    if (a.size() == part || b.size() == part) return count + 1;
    a.remove_suffix(part + 1);
    b.remove_suffix(part + 1);
  }
}

/// Rows of a listing by the last part of their names.
class listed_names {
 public:
  explicit listed_names(const object_columns& rows) : rows_(rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) by_last_.emplace(last_part(rows.name(i)), i);
  }

  /// The row that a shard of another's index is.
  result<std::size_t> find(const foreign_shard& shard) const;

 private:
  struct match {
    std::size_t row{0};
    std::size_t rank{0};
    std::size_t equals{0};  ///< rows of that rank
  };
  match best(std::string_view name) const;

  const object_columns& rows_;
  std::unordered_multimap<std::string_view, std::size_t> by_last_{};
};

DATAFLUX_INLINE listed_names::match listed_names::best(std::string_view name) const {
  const std::string_view place = place_of_url(name);
  const std::string_view wanted = place.empty() ? name : place;
  match found;
  const auto [first, last] = by_last_.equal_range(last_part(wanted));
  for (auto at = first; at != last; ++at) {
    const std::string_view row = rows_.name(at->second);
    const bool whole_row = wanted.ends_with(row) && (wanted.size() == row.size() ||
                                                     wanted[wanted.size() - row.size() - 1] == '/');
    const bool whole_name = row.ends_with(wanted) && (row.size() == wanted.size() ||
                                                      row[row.size() - wanted.size() - 1] == '/');
    // Of a URL a row that is all of its end goes before one in which more stands.
    const std::size_t rank = place.empty() ? static_cast<std::size_t>(whole_name)
                                           : 2 * common_parts(row, place) + (whole_row ? 1 : 0);
    if (rank == 0 || rank < found.rank) continue;
    found = {at->second, rank, rank == found.rank ? found.equals + 1 : 1};
  }
  return found;
}

DATAFLUX_INLINE result<std::size_t> listed_names::find(const foreign_shard& shard) const {
  match found = best(shard.name);
  if (found.equals == 0) found = best(shard.name + ".tar");
  if (found.equals == 0) {
    return error{errc::not_found, "no shard of the listing has that name"};
  }
  if (found.equals > 1) {
    return error{errc::failed_precondition, "several shards of the listing have that name"};
  }
  if (shard.size && *shard.size != rows_[found.row].size) {
    return error{errc::failed_precondition,
                 "the shard has another size than the index says, which is stale; index the shard "
                 "itself"};
  }
  return found.row;
}

/// With the file and what it calls the shard.
inline error of_foreign(const foreign_index& index, std::string_view shard, error why) {
  std::string text;
  if (!index.file.empty()) text = "'" + index.file + "': ";
  if (!shard.empty()) text.append("'").append(shard).append("': ");
  return std::move(why.with_message(text + why.message()).with_object(shard));
}

}  // namespace detail::shard

DATAFLUX_INLINE result<shard_index> import_foreign_index(const std::string& bucket,
                                                         const object_columns& listing,
                                                         const std::vector<foreign_index>& from,
                                                         const grouping_rules& grouping,
                                                         std::string_view scheme) {
  shard_index_description description{
      .bucket = bucket,
      .taken = std::chrono::time_point_cast<timestamp::duration>(std::chrono::system_clock::now()),
      .options = detail::shard::options_of({.grouping = grouping}),
      .scheme = std::string{scheme}};
  const detail::shard::listed_names names{listing};
  detail::shard::shard_index_encoder encoder(std::move(description));
  const auto bytes = std::make_shared<std::string>();
  for (const foreign_index& index : from) {
    if (index.format == foreign_format::energon) {
      return detail::shard::of_foreign(
          index, index.shards.empty() ? "" : index.shards.front().name,
          {errc::invalid_argument,
           "Energon's .tar.idx does not say where members lie; import its index.sqlite, or index "
           "the shards themselves"});
    }
    for (const foreign_shard& shard : index.shards) {
      const auto row = names.find(shard);
      if (!row) return detail::shard::of_foreign(index, shard.name, row.error());
      if (index.format == foreign_format::wids) continue;
      detail::shard::foreign_layout layout{grouping, listing[*row].size};
      result<void> good;
      for (std::size_t i = 0; good && i < shard.members.size(); ++i) {
        good = layout.add(shard.members[i]);
      }
      if (good) good = layout.check_end();
      if (good) good = encoder.add(listing[*row], layout.take(), *bytes);
      if (good) continue;
      error why = detail::shard::of_foreign(index, shard.name, good.error());
      return std::move(why.with_scheme(scheme).with_bucket(bucket).with_object(listing[*row].name));
    }
  }
  if (auto good = encoder.end(*bytes); !good) return std::move(good).error();
  return shard_index::over(as_bytes(*bytes), bytes, "imported");
}

DATAFLUX_INLINE result<std::string> energon_index(const shard_index& index, std::uint64_t shard) {
  const auto row = index.shard(shard);
  if (!row) return row.error();
  std::string out(8 * static_cast<std::size_t>(row->samples + 1), '\0');
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < row->samples; ++i) {
    const auto sample = index.sample(row->first_sample + i);
    if (!sample) return sample.error();
    detail::codec::store_at(out.data(), 8 * static_cast<std::size_t>(i), sample->offset);
    end = sample->offset + sample->size;
  }
  detail::codec::store_at(out.data(), 8 * static_cast<std::size_t>(row->samples), end);
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI
