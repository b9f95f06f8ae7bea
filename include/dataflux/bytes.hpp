#pragma once

#include <dataflux/detail/config.hpp>
#include <dataflux/result.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

/// Bytes: views, ranges of an object, and where a body goes.
namespace dataflux::inline DATAFLUX_ABI {

/// Borrowed bytes, read-only and writable. The function that takes a view says how long its owner
/// keeps them alive.
using bytes_view = std::span<const std::byte>;
using bytes_span = std::span<std::byte>;

/// Spare readable and writable bytes behind every buffer that this library allocates, so that SIMD
/// decoders may read past the end (simdjson needs 64).
inline constexpr std::size_t buffer_slack = 64;

inline bytes_view as_bytes(std::string_view text) noexcept {
  return std::as_bytes(std::span<const char>{text.data(), text.size()});
}
inline std::string_view as_text(bytes_view bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

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
  /// Its bytes in an object of `size` bytes. A range that begins behind the end keeps its offset,
  /// with length 0.
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

namespace detail {
/// What is wrong with a range that is not valid(): which number of it, and its limit.
error range_error(const byte_range& range);
}  // namespace detail

/// The destination of a body. The producer asks for memory, fills it, and says how much is used, so
/// that bytes are received in their final place without a copy.
///
/// Errors: an error of a member ends the operation that feeds the sink, and is its outcome. A
/// member that throws std::bad_alloc ends it with resource_exhausted.
///
/// Lifetime: the sink outlives the operation that feeds it.
///
/// Threads: calls come one at a time, from whichever thread produces (an I/O thread). They must
/// return soon and must not block.
///
/// Cost: no copy; calls are as many as pieces arrive.
class byte_sink {
 public:
  byte_sink() = default;
  byte_sink(const byte_sink&) = delete;
  byte_sink& operator=(const byte_sink&) = delete;
  virtual ~byte_sink() = default;

  /// Called once before the first byte of an attempt with the number of bytes to come
  /// (byte_range::to_end when unknown), counted from the current offset. An error ends the
  /// operation: a span that is too small, say.
  virtual result<void> expect(std::uint64_t length) = 0;

  /// Memory for the next bytes, at most `wanted` of them and at least one; valid until the next
  /// call of any member. An empty span means that the sink takes no more: if it is satisfied() the
  /// producer stops there, else the operation fails with errc::out_of_range.
  virtual bytes_span prepare(std::size_t wanted) = 0;

  /// It has all bytes that it wants.
  virtual bool satisfied() const noexcept { return false; }

  /// The first `count` bytes of the last prepare() hold data now. An error ends the operation.
  virtual result<void> commit(std::size_t count) = 0;

  /// Forget everything from `offset` on (counted from the first byte of the operation): the bytes
  /// will come again. Needed when an attempt cannot be resumed. An error (failed_precondition: the
  /// bytes were passed on already) ends the operation.
  virtual result<void> rewind(std::uint64_t offset) = 0;
};

/// Fills memory of the caller.
///
/// Errors: out_of_range when the body is longer than the memory.
///
/// Lifetime: the memory outlives the operation.
class span_sink final : public byte_sink {
 public:
  explicit span_sink(bytes_span memory) noexcept : memory_(memory) {}
  std::size_t size() const noexcept { return used_; }
  bytes_span filled() const noexcept { return memory_.first(used_); }

  DATAFLUX_INLINE result<void> expect(std::uint64_t length) override;
  DATAFLUX_INLINE bytes_span prepare(std::size_t wanted) override;
  DATAFLUX_INLINE result<void> commit(std::size_t count) override;
  DATAFLUX_INLINE result<void> rewind(std::uint64_t offset) override;

 private:
  bytes_span memory_;
  std::size_t used_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/impl/byte_sink.ipp>
#endif
