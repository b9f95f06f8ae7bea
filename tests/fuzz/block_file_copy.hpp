#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/crc32c.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

namespace fuzz {

/// A block_file in memory of exactly its size, aligned as a mapping is, so that the address
/// sanitizer sees a step too far.
struct block_file_copy {
  explicit block_file_copy(std::span<const std::byte> from)
      : size(from.size()), data(static_cast<std::byte*>(std::malloc(size == 0 ? 1 : size))) {
    if (size != 0) std::memcpy(data.get(), from.data(), size);
  }
  struct release {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };
  std::size_t size;
  std::unique_ptr<std::byte, release> data;

  dataflux::bytes_view bytes() const { return {data.get(), size}; }
  template <class T>
  T at(std::size_t place) const {
    T value;
    std::memcpy(&value, data.get() + place, sizeof value);
    return value;
  }
  void seal(std::size_t from, std::size_t count, std::size_t place) {
    const std::uint32_t crc = dataflux::crc32c(bytes().subspan(from, count));
    std::memcpy(data.get() + place, &crc, sizeof crc);
  }
  bool holds(std::uint64_t from, std::uint64_t count) const {
    return from <= size && count <= size - from;
  }

  /// Makes every checksum right that has its place inside. An entry has its block's at
  /// `crc_in_entry`.
  void make_good(std::size_t crc_in_entry) {
    if (size < 128) return;
    const std::size_t end = size - 64;
    seal(0, 60, 60);
    const auto table = at<std::uint64_t>(end + 16);
    const std::uint64_t table_bytes = std::uint64_t{at<std::uint32_t>(end + 36)} * 64;
    if (holds(table, table_bytes)) {
      for (std::uint64_t entry = table; entry < table + table_bytes; entry += 64) {
        const auto begin = at<std::uint64_t>(entry);
        const auto count = at<std::uint64_t>(entry + 8);
        if (holds(begin, count)) seal(begin, count, entry + crc_in_entry);
      }
      seal(table, table_bytes, end + 40);
    }
    const auto text = at<std::uint64_t>(end + 24);
    const auto text_bytes = at<std::uint32_t>(end + 32);
    if (holds(text, text_bytes)) seal(text, text_bytes, end + 44);
    seal(end, 52, end + 52);
  }
};

}  // namespace fuzz
