#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI {

/// Where the bytes of a body go. The producer asks for memory, fills it, and says how much of it
/// is used, so that bytes are received in their final place with no copy between.
///
/// Threads: calls come one at a time, from whichever thread produces (an I/O thread); they must
/// return soon and must not block. Lifetime: the sink outlives the operation that feeds it.
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

  /// It has all that it wants, whatever may still come.
  virtual bool satisfied() const noexcept { return false; }

  /// The first `count` bytes of the last prepare() hold data now. An error ends the operation.
  virtual result<void> commit(std::size_t count) = 0;

  /// Forget everything from `offset` on (counted from the first byte of the operation): the bytes
  /// will come again. Needed when an attempt cannot be resumed where it broke off. An error
  /// (failed_precondition: the bytes are gone already) ends the operation.
  virtual result<void> rewind(std::uint64_t offset) = 0;
};

/// Fills memory of the caller. Fails with out_of_range when the body is longer than the memory.
class span_sink final : public byte_sink {
 public:
  explicit span_sink(bytes_span memory) noexcept : memory_(memory) {}
  std::size_t size() const noexcept { return used_; }
  bytes_span filled() const noexcept { return memory_.first(used_); }

  result<void> expect(std::uint64_t length) override;
  bytes_span prepare(std::size_t wanted) override;
  result<void> commit(std::size_t count) override;
  result<void> rewind(std::uint64_t offset) override;

 private:
  bytes_span memory_;
  std::size_t used_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/impl/byte_sink.ipp>
#endif
