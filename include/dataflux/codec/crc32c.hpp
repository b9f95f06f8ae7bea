#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/config.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

/// CRC32C (Castagnoli), the checksum of every object: over bytes by ISA-L, over checksums by
/// polynomial arithmetic (protocol.md 5.1, 5.2).
///
/// A checksum here is always the finished value, as the service shows it: the checksum of no bytes
/// is 0, that of "123456789" is 0xE3069283.
///
/// Errors: none.
///
/// Threads: all functions are pure, and any thread may call them.
///
/// Cost: no allocation; the functions say what they take.
namespace dataflux::inline DATAFLUX_ABI {

/// The checksum of A followed by `bytes`, where `crc` is the checksum of A; crc32c_extend(0, b)
/// starts one. Any length. About 0.02 ns a byte, 10 ns a call.
std::uint32_t crc32c_extend(std::uint32_t crc, bytes_view bytes) noexcept;

/// The checksum of `bytes`.
std::uint32_t crc32c(bytes_view bytes) noexcept;

/// The checksum of A followed by B, from the two checksums and B's length in bytes, without the
/// bytes. Associative, so that ranges read in parallel fold in order. O(log b_length): 0.04 us
/// where the length is a power of two, about 1 us at most.
std::uint32_t crc32c_combine(std::uint32_t a, std::uint32_t b, std::uint64_t b_length) noexcept;

/// The checksum of B, from those of A followed by B (`whole`) and of A (`prefix`), and B's length:
/// the checksum of the rest when a known prefix is dropped. Same cost as crc32c_combine().
std::uint32_t crc32c_subtract_prefix(std::uint32_t whole, std::uint32_t prefix,
                                     std::uint64_t b_length) noexcept;

/// The service's text form: big-endian, base64, eight characters of which the last are "==".
struct crc32c_text {
  std::array<char, 8> chars{};
  /// Valid for as long as this object.
  std::string_view view() const noexcept { return {chars.data(), chars.size()}; }
};
crc32c_text encode_crc32c(std::uint32_t crc) noexcept;

/// Reads the text form; nullopt for anything that encode_crc32c() cannot give.
std::optional<std::uint32_t> decode_crc32c(std::string_view text) noexcept;

/// A checksum that knows how many bytes it covers, so that neighbouring pieces can be joined. A
/// value of 16 bytes.
///
/// Threads: distinct objects are independent.
class crc32c_accumulator {
 public:
  crc32c_accumulator() = default;
  /// Takes up where another count stopped: `crc` covers `length` bytes.
  crc32c_accumulator(std::uint32_t crc, std::uint64_t length) noexcept
      : length_(length), crc_(crc) {}

  std::uint32_t crc() const noexcept { return crc_; }
  std::uint64_t length() const noexcept { return length_; }

  /// Bytes that follow those covered so far.
  void update(bytes_view bytes) noexcept {
    crc_ = crc32c_extend(crc_, bytes);
    length_ += bytes.size();
  }
  /// A piece that follows the bytes covered so far.
  void append(const crc32c_accumulator& next) noexcept {
    crc_ = crc32c_combine(crc_, next.crc_, next.length_);
    length_ += next.length_;
  }

 private:
  std::uint64_t length_{0};
  std::uint32_t crc_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/crc32c.ipp>
#endif
