#pragma once

#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/member_record.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/detail/reserved_prefixes.hpp>
#include <dataflux/store/object_columns.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// How a committed set lies in its bucket (checkpoint/checkpoint_set.hpp). Pure functions.
///
///     PREFIX/any/name                     members
///     PREFIX/.dataflux-set-<16 hex>       the manifest, under a name of its own for each commit
///     PREFIX/.dataflux-complete           the last object, or another name without a slash
///
/// A save over a set has both in a folder of its own, so that it never meets the names of another:
///
///     PREFIX/.dataflux-save-<16 hex>/any/name
///     PREFIX/.dataflux-save-<16 hex>/.dataflux-set-<16 hex>
///
/// The last object's custom metadata names the manifest that it commits, below PREFIX, and its
/// checksum; members lie beside their manifest. The manifest is text: a line of JSON about the set,
/// then each member's record as a line.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// What is read of one, in bytes: some million members. A longer object is no manifest of a set.
inline constexpr std::size_t longest_set_manifest = std::size_t{1} << 30U;

inline constexpr std::string_view manifest_name_prefix = ".dataflux-set-";

struct set_manifest {
  /// Of the last object.
  std::string last{};
  std::uint64_t last_size{0};
  std::uint32_t last_crc32c{0};
  /// In order of names, of which none is there twice.
  std::vector<member_record> members{};
};

std::string encode(const set_manifest& manifest);
/// Errors: data_loss that says what is wrong; unimplemented for a later version.
result<set_manifest> decode_set_manifest(std::string_view text);

std::string manifest_name(std::uint64_t random);
bool is_manifest_name(std::string_view base_name) noexcept;

/// Of a save over a set, with the slash.
std::string save_folder(std::string_view id);
/// Of an object that is named as a member of a save over a set: the folder of that save, with the
/// slash; else empty. What an upload is to become is known by this alone: a listing of uploads
/// tells no metadata.
std::string_view save_folder_of(std::string_view object) noexcept;
/// The set's folder: the one around the folder of a save, else `folder` itself; with the slash.
std::string_view set_folder(std::string_view folder) noexcept;

/// What a last object says.
struct set_mark {
  std::string manifest{};  ///< below the set's folder
  std::uint32_t manifest_crc32c{0};
};
using metadata_pairs = std::vector<std::pair<std::string, std::string>>;
metadata_pairs to_metadata(const set_mark& mark);
/// Nothing where there is none, or none that we could have written.
std::optional<set_mark> find_mark(const metadata_pairs& metadata);
/// The same of a listing's column.
std::optional<set_mark> find_mark(std::string_view metadata_column);

/// What an object written as a member bears, so that it is known as one before it is committed:
/// under which folder lies in its name, as the number of its folders below that.
std::pair<std::string, std::string> member_mark(std::string_view member_name);
/// The folder of the set that the object was written for, with the slash; empty if it bears no mark
/// of a member. `metadata_column` is a listing's.
std::string_view marked_folder(std::string_view object, std::string_view metadata_column);

/// An object that was written for a set, as its name and its mark say: a manifest, or a member.
struct set_part {
  std::string_view folder{};  ///< that it lies in, or is a member of, with the slash; empty = none
  bool manifest{false};
};
set_part set_part_of(std::string_view object, std::string_view metadata_column);

/// The set is there already; `last` is its last object, below the folder.
error committed_already(std::string_view last);

/// "a/b" for the names below "a/b/"; so is "a/b/". Errors: invalid_argument for no prefix at all.
result<std::string> folder_of(std::string_view prefix);

/// Of an object's name: its folder, with the slash; empty for a name without one.
inline std::string_view folder_part(std::string_view name) noexcept {
  return name.substr(0, name.rfind('/') + 1);
}

/// Are the members there as the manifest says? `rows` are in order of names and hold all that is
/// below `folder`. Errors: data_loss that names the first that is not, and says how many. An object
/// whose checksum the listing does not tell is known by its generation alone.
result<void> check_members(const std::vector<member_record>& members, const std::string& folder,
                           const object_columns& rows, member_match match);
/// Of members that are there: from now on the generations that were found are meant.
void pin_members(std::vector<member_record>& members, const std::string& folder,
                 const object_columns& rows);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/set_manifest.ipp>
#endif
