#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/transfer/part_checksum.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What is remembered of the bytes of an object that have come: their checksums, so that what comes
/// a second time is compared with what came first.
///
/// The object is cut into cells. What comes is given cell by cell (`cell_of`). Of a cell that came
/// as a whole one checksum is kept; of any other those of its pieces, as they came. A piece that
/// comes again as a whole, alone or within a longer one, is compared. What overlaps one in part
/// only cannot be: then the whole cell has to come again, which can.
///
/// With the parts of an object its cells are those parts, and what comes is compared with theirs
/// the first time, too.
///
/// Pure; one executor at a time but for cell_of(), which any thread may call. Cost: O(log pieces).
/// Memory: 4 bytes and a bit for each cell, of which there are a million at most: 66 KiB for each
/// GiB that cells of 64 KiB make. And some 80 bytes for each piece: a range has two of them at
/// most, its ends, for as long as they are no whole cells. See crowded().
class cell_checksums {
 public:
  enum class verdict {
    good,     ///< it is new, or what came before is the same
    differs,  ///< it is not what came before, or not what the parts say
    unclear   ///< it cannot be compared, and was not remembered: its cell has to come again
  };

  /// Cells of `cell` bytes, or of a multiple where that would be too many.
  cell_checksums(std::uint64_t size, std::uint64_t cell);
  explicit cell_checksums(std::span<const part_checksum> parts);

  byte_extent cell_of(std::uint64_t offset) const noexcept;
  /// What has come: `range` is not empty and within one cell, `crc` is of `bytes`.
  verdict take(byte_extent range, bytes_view bytes, std::uint32_t crc);

  /// A byte of `range` has come before.
  bool knows_some_of(byte_extent range) const noexcept;
  /// Where the unknown bytes that end at `offset` begin, not before `least`; `offset` itself if the
  /// byte before it is known.
  std::uint64_t known_before(std::uint64_t offset, std::uint64_t least) const noexcept;
  /// All bytes of the object are known: crc() is theirs.
  bool whole() const noexcept { return bytes_ == size_; }
  std::uint32_t crc() const;
  /// So many pieces are remembered that the next should better be whole cells. Nothing is forgotten
  /// after it, either.
  bool crowded() const noexcept { return pieces_.size() >= most_pieces; }

  static constexpr std::size_t most_pieces = 65'536;

 private:
  using pieces = std::map<std::uint64_t, crc32c_accumulator>;
  static std::uint64_t end_of(pieces::const_iterator p) noexcept {
    return p->first + p->second.length();
  }
  std::size_t index_of(std::uint64_t offset) const noexcept;
  byte_extent cell_at(std::size_t index) const noexcept;
  pieces::const_iterator first_in(byte_extent range) const noexcept;
  void complete(std::size_t index, std::uint32_t crc);
  void join_pieces();

  std::uint64_t size_{0};
  std::uint64_t cell_{1};
  std::vector<std::uint64_t> ends_{};  ///< of parts
  std::vector<std::uint32_t> crcs_{};  ///< by cell; of parts from the start
  std::vector<bool> complete_{};       ///< cells that came as a whole
  pieces pieces_{};                    ///< of other cells, by their begin
  std::size_t joined_{0};              ///< how many pieces the last join_pieces() has left
  std::uint64_t bytes_{0};             ///< known
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/cell_checksums.ipp>
#endif
