#pragma once

#include <dataflux/config.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace dataflux::inline DATAFLUX_ABI {

/// Bytes [offset, offset + length) of an object.
struct byte_extent {
  std::uint64_t offset{0};
  std::uint64_t length{0};
};

/// Which bytes of an object are meant, in the three forms the service knows (protocol.md 1.2).
///
///     byte_range::all()            the whole object
///     byte_range::from(100)        bytes 100 to the end
///     byte_range::span(100, 50)    bytes 100-149, clamped to the object's end
///     byte_range::last(50)         the last 50 bytes, or the whole object if it is smaller
class byte_range {
 public:
  static constexpr std::uint64_t to_end = std::numeric_limits<std::uint64_t>::max();

  constexpr byte_range() noexcept = default;
  static constexpr byte_range all() noexcept { return {}; }
  static constexpr byte_range from(std::uint64_t offset) noexcept {
    return {offset, to_end, false};
  }
  static constexpr byte_range span(std::uint64_t offset, std::uint64_t length) noexcept {
    return {offset, length, false};
  }
  static constexpr byte_range last(std::uint64_t length) noexcept { return {0, length, true}; }

  constexpr bool is_all() const noexcept { return !suffix_ && offset_ == 0 && length_ == to_end; }
  /// True for last(n): offset() has no meaning then.
  constexpr bool is_suffix() const noexcept { return suffix_; }
  constexpr std::uint64_t offset() const noexcept { return offset_; }
  /// Bytes asked for; to_end when open.
  constexpr std::uint64_t length() const noexcept { return length_; }
  /// False for an empty range, and for one whose last byte is beyond the largest object offset.
  constexpr bool valid() const noexcept {
    constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (length_ == 0 || offset_ > limit) return false;
    return length_ == to_end || length_ <= limit - offset_;
  }
  /// What it means in an object of `size` bytes. A range that begins behind the end keeps its
  /// offset, and has no length.
  constexpr byte_extent in(std::uint64_t size) const noexcept {
    if (suffix_) return {size - std::min(length_, size), std::min(length_, size)};
    return {offset_, offset_ <= size ? std::min(length_, size - offset_) : 0};
  }
  friend constexpr bool operator==(const byte_range&, const byte_range&) noexcept = default;

 private:
  constexpr byte_range(std::uint64_t offset, std::uint64_t length, bool suffix) noexcept
      : offset_(offset), length_(length), suffix_(suffix) {}
  std::uint64_t offset_{0};
  std::uint64_t length_{to_end};
  bool suffix_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI
