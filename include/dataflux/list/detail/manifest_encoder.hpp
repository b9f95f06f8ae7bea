#pragma once

#include <dataflux/list/detail/manifest_format.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_columns.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A block_file_writer of manifests. Each member appends the next bytes. Not thread-safe.
class manifest_frame {
 public:
  void append_head(std::string& out) { frame_.append_head(out); }
  /// `chunk` begins at the first bit of its bitmaps, and its offsets with 0: it is no slice.
  void append_block(const object_chunk& chunk, std::string& out);
  /// A block of another manifest, which was checked; `bytes` are its own.
  void append_copy(const manifest_block& block, bytes_view bytes, std::string& out);
  void append_rest(const manifest_description& description, std::string& out);

  bool begun() const noexcept { return frame_.begun(); }

 private:
  void count(manifest_block block);

  codec::block_file_writer frame_{manifest_kind};
};

/// Makes the bytes of a manifest, piece by piece, in one pass over the rows, so that never more
/// than a block is in memory. Not thread-safe.
class manifest_encoder {
 public:
  /// The rows are shared.
  manifest_encoder(const manifest_description& description, const object_columns& rows)
      : description_(description), rows_(rows.slice(0, rows.size())), next_(rows_.begin()) {}
  manifest_encoder(const manifest_encoder&) = delete;
  manifest_encoder& operator=(const manifest_encoder&) = delete;

  /// Appends the next piece: one block of rows, or the rest. invalid_argument for rows that are not
  /// in order.
  result<void> append_to(std::string& out);
  /// All has been appended.
  bool done() const noexcept { return done_; }

 private:
  result<void> take_rows(object_columns& block);

  manifest_description description_;
  object_columns rows_;
  object_columns::const_iterator next_;
  std::size_t taken_{0};
  object_row last_{};
  manifest_frame frame_{};
  bool done_{false};
};

/// A description that can be written: its texts are UTF-8.
result<void> check_description(const manifest_description& description);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/manifest_encoder.ipp>
#endif
