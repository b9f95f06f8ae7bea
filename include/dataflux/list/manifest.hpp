#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/list/listing_changes.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// A listing that is kept: written once, and then loaded by every rank of a job instead of listing
/// again. list/manifest_writer.hpp writes them, to files and to objects.
///
/// Format, version 1. All integers are little-endian; every block, and every column in it, begins
/// at a multiple of 64 bytes; gaps, and what is not named here, are zeros. A checksum is the CRC32C
/// of the bytes named. The end is written last, so that the whole can be written in one pass.
///
/// | at | bytes | head |
/// |---|---|---|
/// | 0 | 8 | 89 'd' 'f' 'l' 'i' 's' 't' 0A; the head is the same in every version |
/// | 8 | 4 | version |
/// | 60 | 4 | checksum of bytes 0-59 |
///
/// Then the blocks, each a run of rows; their columns in this order:
///
/// | bytes | column |
/// |---|---|
/// | 8 x rows | sizes |
/// | 8 x rows | generations |
/// | 4 x rows | crc32c, 0 where there is none |
/// | 4 x (rows + 1) | offsets of names, ascending from 0 to the bytes of all names |
/// | (rows + 7) / 8 | where flag 1 is set: a bit for each row, 1 where there is a crc32c |
/// | as offsets say | names, UTF-8 |
///
/// and then, for each extra column k (its bit in extra_columns is 1 << k) that flag 256 << k names:
/// offsets, for texts only; a bitmap as above, where flag 65536 << k is set; values, which are 16
/// bytes a row, 8 bytes a row, or the texts.
///
/// Then the description, a JSON object (of which readers skip what they do not know), and the
/// table, 64 bytes for each block:
///
/// | at | bytes | entry of the table |
/// |---|---|---|
/// | 0 | 8 | where the block begins |
/// | 8 | 8 | bytes of the block |
/// | 16 | 4 | rows, at least 1 |
/// | 20 | 4 | bytes of names |
/// | 24 | 4 | flags |
/// | 28 | 4 | checksum of the block |
/// | 32 | 3 x 4 | bytes of the texts of content_type, storage_class, metadata |
///
/// | at, from the end | bytes | end |
/// |---|---|---|
/// | -64 | 8 | bytes of the whole |
/// | -56 | 8 | rows |
/// | -48 | 8 | where the table begins |
/// | -40 | 8 | where the description begins |
/// | -32 | 4 | bytes of the description |
/// | -28 | 4 | blocks |
/// | -24 | 4 | checksum of the table |
/// | -20 | 4 | checksum of the description |
/// | -12 | 4 | checksum of the end's first 52 bytes |
/// | -8 | 8 | 0A 't' 's' 'i' 'l' 'f' 'd' 89 |
namespace dataflux::inline DATAFLUX_ABI {

/// What was listed, how and when. All texts are UTF-8.
struct manifest_description {
  std::string bucket{};
  /// These four as in list_page_request.
  std::string prefix{};
  std::string start_offset{};
  std::string end_offset{};
  std::string match_glob{};
  /// Rows are all generations, not the live ones alone.
  bool versions{false};
  /// When the listing began: what was written before is in it, what was written later may be.
  timestamp taken{};
  /// Whatever else narrowed the listing, as names and values; kept as it is given.
  std::vector<std::pair<std::string, std::string>> options{};

  bool operator==(const manifest_description&) const = default;
};

/// A saved listing, in order of names, read where it lies.
///
/// Opening checks the end, the table and the description, and looks at no object: its cost grows
/// with the blocks, of which there is one for up to 65,536 objects. A block is checked, checksum
/// and offsets, when rows of it are first asked for, so that no row is ever given from a damaged
/// block, and a rank that takes its share of the rows reads, and pays for, no other's.
///
/// A handle: copies share the mapping, which lives as long as any of them or any rows from it.
/// Thread safety: all members from any thread.
class manifest {
 public:
  /// Maps a file. It must not be written to or cut off while it is in use (manifest_writer never
  /// does: it replaces the file); a cut raises SIGBUS.
  ///
  /// Errors: not_found, permission_denied and other failures of the file system; invalid_argument:
  /// not a manifest; unimplemented: a newer version; data_loss: truncated, or damaged, and where.
  static result<manifest> open(const std::string& path);

  /// The same over memory that `owner` keeps alive and unchanged; its address must be a multiple of
  /// 8. Errors, also those of rows(), begin with `shown_as`.
  static result<manifest> over(bytes_view bytes, std::shared_ptr<const void> owner,
                               std::string shown_as = {});

  const manifest_description& description() const noexcept;
  /// Number of rows.
  std::size_t size() const noexcept;
  /// Bytes of the whole file or object.
  std::size_t bytes() const noexcept;

  /// Rows first .. first + count, cut at size(), in the manifest's own memory. The error
  /// (data_loss) names the damaged block and its rows. Cost: for blocks that are met for the first
  /// time about 4 ns a row, reading from disk apart; nothing for a row later on.
  result<object_columns> rows(std::size_t first, std::size_t count) const;
  result<object_columns> rows() const { return rows(0, size()); }

  /// What is different in a later listing of the same place: compare_listings() with these rows.
  result<listing_changes> changes_to(const object_columns& later) const;

 private:
  struct state;
  explicit manifest(std::shared_ptr<const state> s) noexcept : state_(std::move(s)) {}
  std::shared_ptr<const state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/manifest.ipp>
#endif
