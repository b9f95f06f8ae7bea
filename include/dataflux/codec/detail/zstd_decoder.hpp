#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/decode_step.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// Decompresses a file of zstd's format (RFC 8878), by libzstd: all of its frames, and it passes
/// over skippable ones. A frame's checksum is compared where it has one. It is used as gzip_decoder
/// is.
///
/// libzstd is optional. The macro DATAFLUX_ZSTD says that it is there, as CMake and pkg-config set
/// it where dataflux was built with it; all sources of a header-only program define it alike.
/// Without it decode() fails with unimplemented, and says what to do.
///
/// Errors: data_loss for bytes that are not zstd's or were damaged, and for a file that ends within
/// a frame, with the offset in the compressed file; unimplemented for a frame that needs a
/// dictionary or a window above `most_window`. Each later call returns the error, too. A checksum
/// stands behind its frame: what earlier calls produced of a damaged frame may be wrong.
///
/// Lifetime: the views are needed during the call alone.
///
/// Threads: distinct objects are independent.
///
/// Cost: the window that a frame announces, 8 MiB mostly, `most_window` and some 500 KiB at most.
/// libzstd allocates it by the frame's header, and decode() throws std::bad_alloc if it cannot.
/// About 1.5 ns for each byte of text produced.
class zstd_decoder {
 public:
  /// What libzstd's own program reads unless it is asked for more.
  static constexpr std::size_t most_window = std::size_t{128} << 20;

  zstd_decoder() noexcept = default;

  /// Decompresses until the input is used or the output is full. Nothing happens to an empty
  /// output.
  result<decode_step> decode(bytes_view input, bytes_span output);

  /// The file ends here; after a step that needed input. Errors: data_loss if a frame has begun and
  /// not ended, or if there was none.
  result<void> finish() const;

 private:
  bool advance(bytes_view& input, bytes_span& output);
  bool check_magic(bytes_view input);
  void fail(error why);

  // Of libzstd, made by the first use, with what frees it.
  std::unique_ptr<void, void (*)(void*) noexcept> context_{nullptr, nullptr};
  std::uint64_t position_{0};  ///< bytes consumed
  std::uint64_t frame_{0};     ///< where the last frame began
  std::optional<error> failure_{};
  std::uint32_t magic_{0};
  std::uint8_t magic_size_{0};  ///< bytes of the frame's magic number so far; 0 between frames
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/zstd_decoder.ipp>
#endif
