#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/gzip_decoder.hpp>
#include <dataflux/codec/detail/zstd_decoder.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/detail/shard_coding.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// What one call of a shard_decoder has done.
struct decoded_shard {
  /// The next bytes of the archive: in the input, in the memory, or in the decoder. Valid as long
  /// as these, and until the next call.
  bytes_view bytes{};
  /// How many bytes of the input were used. The others are given again.
  std::size_t consumed{0};
  /// All of the input was used, and nothing more comes without more of it.
  bool needs_input{false};
};

/// Gives the bytes of an archive, whether the shard is compressed or not. Its first bytes say so,
/// as its name may not. Bytes of a plain shard are passed on without a copy.
///
///     for (;;) {
///       const auto step = decoder.decode(input, memory);
///       if (!step) return step.error();
///       reader.feed(step->bytes);  // offsets are of the archive, not of the compressed file
///       input = input.subspan(step->consumed);
///       if (!step->needs_input) continue;
///       if (input = next_piece(); input.empty()) return decoder.finish();
///     }
///
/// Errors: unimplemented for xz, bzip2 and lz4; those of gzip_decoder and zstd_decoder, which may
/// come after bytes that are wrong. The caller adds the shard's name.
///
/// Lifetime: as decoded_shard says.
///
/// Threads: distinct objects are independent.
///
/// Cost: that of the decoder that is needed; none for a plain shard.
class shard_decoder {
 public:
  /// The next bytes of the archive. `memory` is for what is decompressed and must not be empty;
  /// 256 KiB are enough to be fast.
  result<decoded_shard> decode(bytes_view input, bytes_span memory);

  /// The shard ends here; after a step that needed input. Errors: data_loss if it ends within what
  /// is compressed, or within the bytes that say how. An empty shard is plain.
  result<void> finish() const;

  shard_coding coding() const noexcept { return coding_; }
  /// How many bytes of the archive were given.
  std::uint64_t position() const noexcept { return position_; }

 private:
  /// So many bytes tell bzip2 from a name that begins with its letters.
  static constexpr std::size_t most_head = 10;

  /// False if the head is too short to tell.
  bool recognise();
  result<decoded_shard> decode_begun(bytes_view input, bytes_span memory);
  template <class Decoder>
  static result<decoded_shard> decode_by(Decoder& decoder, bytes_view input, bytes_span memory);

  // First bytes that came in pieces, and how many of them were not yet given on.
  std::array<std::byte, most_head> head_{};
  std::uint8_t head_size_{0};
  std::uint8_t head_used_{0};
  shard_coding coding_{shard_coding::unknown};
  std::uint64_t position_{0};
  std::optional<error> failure_{};
  std::variant<std::monostate, codec::gzip_decoder, codec::zstd_decoder> decoder_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/shard_decoder.ipp>
#endif
