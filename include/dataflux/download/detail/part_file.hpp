#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/whole_checksum.hpp>
#include <dataflux/result.hpp>
#include <dataflux/transfer/detail/journal_file.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The content of the file to be: bytes [offset, offset + length) of one generation, in
/// slices.
struct part_content {
  std::string bucket{};
  std::string object{};
  std::int64_t generation{0};
  std::uint64_t object_size{0};
  std::uint64_t offset{0};
  std::uint64_t length{0};
  std::uint64_t slice{1};

  std::size_t slices() const noexcept {
    return static_cast<std::size_t>((length + slice - 1) / slice);
  }
  std::uint64_t begin_of(std::size_t i) const noexcept { return i * slice; }
  std::uint64_t length_of(std::size_t i) const noexcept {
    return i + 1 < slices() ? slice : length - begin_of(i);
  }
};

/// A hidden_file until publish(); if that is not reached it is gone, unless keep() says
/// otherwise. All members block. One thread at a time.
///
/// With a journal it has a name that depends on the place alone. A header lies behind the content,
/// and names the object and the slices. Eight bytes for each slice follow: its CRC32C, and the
/// CRC32C of header, number and that. A header or a record that this call would not write in the
/// same way counts as none.
class part_file {
 public:
  /// `folder`: as download_file_request::folder.
  part_file(std::string path, int folder, part_content content)
      : path_(std::move(path)), folder_(folder), content_(std::move(content)) {}
  part_file(const part_file&) = delete;
  part_file& operator=(const part_file&) = delete;

  result<void> create();
  result<void> open_with_journal();
  /// The checksum of slice `i`, if the file has it and its bytes match. `also` is then what their
  /// other checksum is.
  std::optional<std::uint32_t> verified(std::size_t i, codec::whole_checksum* also = nullptr);
  result<void> write(std::size_t i, bytes_view bytes, std::uint32_t crc32c);
  result<void> publish(bool flush);
  void keep() noexcept { file_.keep(); }

 private:
  static constexpr std::size_t head_size = 56;
  static constexpr std::size_t record_size = 8;

  result<void> fail(const char* what) const;
  result<void> find_place();
  result<void> begin_anew();
  result<void> make_room(std::uint64_t size);
  result<void> put(bytes_view bytes, std::uint64_t offset);
  bool read_back(bytes_span into, std::uint64_t offset) const;
  void make_head();
  std::uint32_t check_of(std::size_t i, std::uint32_t crc32c) const noexcept;
  std::uint64_t full_size() const noexcept;

  const std::string path_;
  const int folder_;
  const part_content content_;
  std::string name_{};  ///< in the folder
  journal_file file_{};
  bool journal_{false};
  std::array<std::byte, head_size> head_{};
  std::vector<std::byte> records_{};
  std::vector<std::byte> scratch_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/part_file.ipp>
#endif
