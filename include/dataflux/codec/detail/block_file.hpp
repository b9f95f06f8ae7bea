#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

/// A file of blocks, written in one pass and read where it lies: a head, the blocks, a description
/// (JSON), a table with an entry for each block, and an end, which says where these are. The head,
/// an entry and the end have 64 bytes each, and each block begins at a multiple of 64.
/// docs/manifest.md has the bytes of all that. What a block and its entry hold is the kind's.
///
/// Threads: functions are pure; a writer has one thread at a time.
namespace dataflux::inline DATAFLUX_ABI::detail::codec {

struct block_file_kind {
  std::string_view noun{};  ///< in errors: "manifest"
  std::string_view magic{};
  std::string_view end_magic{};
  std::uint32_t version{1};
  std::string_view mend{};  ///< what to do about a damaged one: "list anew and save it again"
};

inline constexpr std::size_t block_file_alignment = 64;
inline constexpr std::size_t block_file_piece = 64;  ///< bytes of the head, the end and an entry

constexpr std::size_t block_file_aligned(std::size_t at) noexcept {
  return (at + block_file_alignment - 1) / block_file_alignment * block_file_alignment;
}

template <class T>
T load_at(bytes_view from, std::size_t at) noexcept {
  T value;
  std::memcpy(&value, from.data() + at, sizeof value);
  return value;
}
template <class T>
void store_at(char* to, std::size_t at, T value) noexcept {
  std::memcpy(to + at, &value, sizeof value);
}

/// Integers are copies of memory; on a machine of the other order nothing is read or written.
/// Errors (unimplemented): this is such a machine.
result<void> check_block_file_order(const block_file_kind& kind);

/// The error of a damaged file: data_loss with the kind's noun, what it is, and what to do.
error damaged_block_file(const block_file_kind& kind, std::string_view what);

/// An error with the file's name before it, if it has one.
error of_block_file(const std::string& shown_as, error why);

/// Ascending from 0 to `end`: then no value leaves its column.
template <class T>
bool are_ascending(std::span<const T> values, std::size_t end) noexcept {
  bool ascending = values.front() == 0;
  for (std::size_t i = 1; i < values.size(); ++i) ascending &= values[i - 1] <= values[i];
  return ascending && static_cast<std::size_t>(values.back()) == end;
}

/// Where the parts of a file are.
struct block_file_end {
  std::uint64_t bytes{0};
  std::uint64_t rows{0};
  std::uint64_t table_begin{0};
  std::uint64_t description_begin{0};
  std::uint32_t description_bytes{0};
  std::uint32_t blocks{0};
  std::uint32_t table_crc{0};
  std::uint32_t description_crc{0};
};

/// Reads the head and the end.
/// Errors: invalid_argument: a file of another kind; unimplemented: a newer version; data_loss: cut
/// off, or damaged.
result<block_file_end> read_block_file_end(const block_file_kind& kind, bytes_view whole);

/// The table and the description, whose checksums match. Errors: data_loss.
result<bytes_view> block_file_table(const block_file_kind& kind, bytes_view whole,
                                    const block_file_end& end);
result<bytes_view> block_file_description(const block_file_kind& kind, bytes_view whole,
                                          const block_file_end& end);

/// What every file has around its blocks. Each member appends the next bytes.
class block_file_writer {
 public:
  explicit block_file_writer(const block_file_kind& kind) noexcept : kind_(kind) {}

  void append_head(std::string& out);
  bool begun() const noexcept { return written_ != 0; }
  /// Where the next block begins.
  std::uint64_t written() const noexcept { return written_; }
  /// A block was appended: its entry of the table, its bytes (a multiple of 64), and its rows.
  void count(std::string_view entry, std::uint64_t bytes, std::uint64_t rows);
  void append_rest(std::string_view description, std::string& out);

 private:
  const block_file_kind& kind_;
  std::uint64_t written_{0};  ///< bytes so far
  std::uint64_t rows_{0};
  std::uint32_t blocks_{0};
  std::string table_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/block_file.ipp>
#endif
