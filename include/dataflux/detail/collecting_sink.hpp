#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/buffer.hpp>

#include <cstddef>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Keeps a body of unknown length in one recycled buffer, with buffer_slack spare bytes behind it,
/// so that decoders work on it in place. Grows by doubling, with what has come and not with what is
/// announced. Throws std::bad_alloc where that finds no memory. Not thread-safe.
class collecting_sink final : public byte_sink {
 public:
  enum class excess : std::uint8_t {
    refuse,  ///< more than the limit is an error (out_of_range)
    drop,    ///< bytes beyond the limit are not received: the producer stops
  };

  explicit collecting_sink(buffer_pool pool) noexcept : pool_(std::move(pool)) {}

  /// Empties it for the next body; the buffer stays.
  void reset(std::size_t limit, excess beyond) noexcept;
  bytes_view bytes() const noexcept { return {memory_.data(), used_}; }
  /// Readable bytes from bytes().data() on, the spare ones included.
  std::size_t readable() const noexcept { return memory_ ? memory_.capacity() + buffer_slack : 0; }
  /// Gives memory of more than `bytes` back to the pool.
  void release_if_larger(std::size_t bytes) noexcept;

  DATAFLUX_INLINE result<void> expect(std::uint64_t length) override;
  DATAFLUX_INLINE bytes_span prepare(std::size_t wanted) override;
  bool satisfied() const noexcept override { return beyond_ == excess::drop && used_ == limit_; }
  DATAFLUX_INLINE result<void> commit(std::size_t count) override;
  DATAFLUX_INLINE result<void> rewind(std::uint64_t offset) override;

 private:
  void grow(std::size_t capacity);

  buffer_pool pool_;
  buffer memory_{};
  std::size_t used_{0};
  std::size_t limit_{0};
  excess beyond_{excess::refuse};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/impl/collecting_sink.ipp>
#endif
