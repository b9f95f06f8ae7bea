#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/decode_step.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// Decompresses a file of gzip's format (RFC 1952), whose members follow each other without a mark:
/// it reads all of them. The checksum and the size of each are compared. Zero bytes behind the last
/// member are padding, as for gzip; any other bytes are damage.
///
///     for (;;) {
///       const auto step = decoder.decode(input, output);
///       if (!step) return step.error();
///       use(output.first(step->produced));
///       input = input.subspan(step->consumed);
///       if (!step->needs_input) continue;
///       if (input = next_piece(); input.empty()) return decoder.finish();
///     }
///
/// Errors: data_loss for bytes that are not gzip's or were damaged, and for a file that ends within
/// a member. The text has the offset in the compressed file. Each later call returns the error,
/// too. A checksum stands behind its member: what earlier calls produced of a damaged member may be
/// wrong.
///
/// Lifetime: the views are needed during the call alone.
///
/// Threads: distinct objects are independent.
///
/// Cost: 90 KiB, allocated by the constructor; what a member announces takes no memory. About 1.5
/// ns for each byte of text produced, 0.2 ns where a member only stores its bytes.
class gzip_decoder {
 public:
  gzip_decoder();
  gzip_decoder(gzip_decoder&& other) noexcept;
  gzip_decoder& operator=(gzip_decoder&& other) noexcept;
  ~gzip_decoder();

  /// Decompresses until the input is used or the output is full. Nothing happens to an empty output
  /// but that headers are read.
  result<decode_step> decode(bytes_view input, bytes_span output);

  /// The file ends here; after a step that needed input. Errors: data_loss if a member has begun
  /// and not ended, or if there was none.
  result<void> finish() const;

 private:
  enum class phase : std::uint8_t { between, header, body, padding };
  struct state;

  // Each returns false where it cannot go on without more input or output.
  bool advance(bytes_view& input, bytes_span& output);
  bool read_header(bytes_view& input);
  bool read_body(bytes_view& input, bytes_span& output);
  void begin_member(std::byte first);
  std::size_t take(bytes_view& input, std::size_t count) noexcept;
  std::size_t take_used(bytes_view& input) noexcept;
  void lend(bytes_view input) noexcept;
  void fail(std::string_view what);

  std::unique_ptr<state> state_;
  std::uint64_t position_{0};  ///< bytes consumed
  std::uint64_t member_{0};    ///< where the last member began
  std::optional<error> failure_{};
  phase phase_{phase::between};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/gzip_decoder.ipp>
#endif
