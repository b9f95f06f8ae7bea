#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emulator {

/// Uninitialised memory that a request body is received into. Large ones are aligned and advised
/// for huge pages: first touch of small pages would cost more than receiving the bytes.
std::shared_ptr<std::byte> allocate_buffer(std::size_t size);

/// An immutable sequence of bytes, in memory or in files, shared by all who hold it.
///
/// Copies and slices share the bytes; appending concatenates without copying. So a completed
/// multipart upload is its parts in a row, and a reply's body is a slice of its object.
/// Threads: const members may be called at the same time.
class content {
 public:
  content() = default;
  /// Takes the string over.
  explicit content(std::string bytes);
  /// `size` bytes of `buffer`, which nobody may change afterwards.
  content(std::shared_ptr<const std::byte> buffer, std::uint64_t size);
  /// The first `size` bytes of a file, read when asked for; `owner` lives as long as they do.
  static content of_file(std::string path, std::uint64_t size,
                         std::shared_ptr<const void> owner = nullptr);

  std::uint64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  /// The bytes [offset, offset + count), clamped to the end.
  content slice(std::uint64_t offset, std::uint64_t count) const;
  void append(const content& tail);

  /// Contiguous bytes at `offset`, at most `limit`: in place when they are in memory, else read
  /// into `scratch`. Empty at the end, and when the file is unreadable or has become shorter.
  std::span<const std::byte> read(std::uint64_t offset, std::size_t limit,
                                  std::vector<std::byte>& scratch) const;

  /// The file that all of it is in; empty when it is in memory or in several.
  std::string file_path() const;
  /// All of it in one string; for small bodies. Shorter than size() when a file became unreadable.
  std::string to_string() const;

 private:
  struct piece {
    std::uint64_t start;  ///< where it begins in the whole
    std::uint64_t size;
    std::shared_ptr<const void> owner;
    const std::byte* data;                      ///< nullptr for a file's piece
    std::shared_ptr<const std::string> path{};  ///< set for a file's piece
    std::uint64_t file_offset{0};
  };
  std::vector<piece> pieces_{};
  std::uint64_t size_{0};
};

/// The bytes of a text, for interfaces that take spans.
inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}
inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace emulator
