#pragma once

#include <dataflux/list/detail/name_range.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What lies on the board of a shared listing. Below its prefix there are
///
///     listing      what is listed: a manifest's description, by which all know that they agree
///     crew-TOKEN   a process that takes part; empty
///     claim-ID     a task that somebody has taken; empty
///     done-ID      a task that is done: a share_record. Its metadata say how many children it has
///     part-ID-TOKEN  manifests, one behind the other, of the ranges that were listed
///
/// All are created once and never changed, but for a claim, which another process replaces when its
/// owner seems to be dead.
namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::string_view share_listing_name = "listing";
inline constexpr std::string_view share_crew = "crew-";
inline constexpr std::string_view share_claim = "claim-";
inline constexpr std::string_view share_done = "done-";
inline constexpr std::string_view share_part = "part-";
/// Keys of a done's metadata.
inline constexpr std::string_view share_children = "children";
inline constexpr std::string_view share_rows = "rows";
inline constexpr std::string_view share_token = "token";       ///< of its part's name; or empty
inline constexpr std::string_view share_part_bytes = "bytes";  ///< of its part

/// Names that a task has listed, and where in its part their manifest lies.
struct share_piece {
  name_range names{};
  std::uint64_t offset{0};
  std::uint64_t bytes{0};  ///< 0 = there are no names
  std::uint64_t rows{0};
};

/// What became of a task.
struct share_record {
  std::string part{};                 ///< an object's whole name; empty = there are no names
  std::vector<share_piece> pieces{};  ///< in order
  std::vector<name_range> left{};     ///< in order; a child for each
};

std::string write_share_record(const share_record& record);
/// Errors: data_loss.
result<share_record> read_share_record(bytes_view text);
struct share_mark {
  std::size_t children{0};
  std::uint64_t rows{0};
  std::string token{};
  std::uint64_t part_bytes{0};
};
/// Of the column `metadata`; nothing for what is no done.
std::optional<share_mark> find_share_mark(std::string_view metadata_column);

/// The description as the board has it: with the columns, and without a time, which is that of its
/// object.
manifest_description share_description(const manifest_description& listing, extra_columns extra);
/// Which argument differs, for a message; empty where the two agree.
std::string share_difference(const manifest_description& a, const manifest_description& b);

/// The record and the bytes of a part of what was listed of `names`, but for `left`, which is in
/// order. Rows that lie in there are dropped: a listing of versions can end within a name.
struct share_result {
  share_record record{};
  std::string bytes{};
  std::uint64_t rows{0};
};
result<share_result> make_share(const manifest_description& of, const name_range& names,
                                const object_columns& rows, std::vector<name_range> left);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/share_record.ipp>
#endif
