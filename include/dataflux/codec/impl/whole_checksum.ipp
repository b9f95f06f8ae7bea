#pragma once

#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/codec/detail/polynomial.hpp>
#include <dataflux/codec/detail/whole_checksum.hpp>

#include <array>
#include <cstddef>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// Of a reflected polynomial: what each byte, followed by 0 to 7 zero bytes, makes of a checksum.
template <class Word>
using crc_tables = std::array<std::array<Word, 256>, 8>;

template <class Word>
constexpr crc_tables<Word> make_crc_tables(Word polynomial) {
  crc_tables<Word> tables{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    auto value = static_cast<Word>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      value = times_x(polynomial, value);
    }
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const Word before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8U) ^ tables[0][before & 0xFFU];
    }
  }
  return tables;
}

inline constexpr std::uint64_t crc64nvme_polynomial = 0x9A6C9329AC4BC9B5U;
inline constexpr std::uint32_t crc32_polynomial = 0xEDB88320U;
inline constexpr auto crc64nvme_tables = make_crc_tables(crc64nvme_polynomial);
inline constexpr auto crc32_tables = make_crc_tables(crc32_polynomial);

template <class Word>
Word extend_by_tables(const crc_tables<Word>& tables, Word crc, bytes_view bytes) noexcept {
  crc = ~crc;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t eight = 0;  // little-endian whatever the machine is; one load where it fits
    for (unsigned i = 0; i < 8; ++i) {
      eight |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    }
    eight ^= crc;
    Word next{0};
    for (unsigned i = 0; i < 8; ++i) next ^= tables[7 - i][(eight >> (8 * i)) & 0xFFU];
    crc = next;
  }
  for (const std::byte byte : bytes) {
    crc = (crc >> 8U) ^ tables[0][(crc ^ std::to_integer<Word>(byte)) & 0xFFU];
  }
  return ~crc;
}

/// crc * x^(8 length) modulo the polynomial, both reflected: what so many zero bytes make of a
/// checksum, but for its init and xorout. By squaring: x^(2^k) for each bit of the length.
template <class Word>
constexpr Word shift_sum(Word polynomial, Word crc, std::uint64_t length) noexcept {
  Word power = reflected_one<Word> >> 8U;  // x^8
  for (; length != 0; length >>= 1U) {
    if ((length & 1U) != 0) crc = multiply_mod(polynomial, power, crc);
    power = multiply_mod(polynomial, power, power);
  }
  return crc;
}

constexpr std::size_t size_of(checksum_kind kind) noexcept {
  return kind == checksum_kind::crc32 ? 4 : 8;
}

DATAFLUX_INLINE std::uint64_t crc64nvme_extend(std::uint64_t crc, bytes_view bytes) noexcept {
  return extend_by_tables(crc64nvme_tables, crc, bytes);
}

DATAFLUX_INLINE std::uint32_t crc32_extend(std::uint32_t crc, bytes_view bytes) noexcept {
  return extend_by_tables(crc32_tables, crc, bytes);
}

DATAFLUX_INLINE std::optional<whole_checksum> decode_checksum(checksum_kind kind,
                                                              std::string_view text) {
  const auto bytes = decode_base64(text);
  if (!bytes || bytes->size() != size_of(kind)) return std::nullopt;
  whole_checksum sum{kind, 0};
  for (const char c : *bytes) sum.value = sum.value << 8U | static_cast<unsigned char>(c);
  return sum;
}

DATAFLUX_INLINE std::string encode_checksum(const whole_checksum& sum) {
  std::array<std::byte, 8> bytes{};
  const std::size_t size = size_of(sum.kind);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(sum.value >> (8 * (size - 1 - i)) & 0xFFU);
  }
  return encode_base64({bytes.data(), size});
}

DATAFLUX_INLINE std::uint64_t extend_sum(checksum_kind kind, std::uint64_t sum,
                                         bytes_view bytes) noexcept {
  if (kind == checksum_kind::crc64nvme) return crc64nvme_extend(sum, bytes);
  return crc32_extend(static_cast<std::uint32_t>(sum), bytes);
}

DATAFLUX_INLINE std::uint64_t combine_sums(checksum_kind kind, std::uint64_t a, std::uint64_t b,
                                           std::uint64_t b_length) noexcept {
  if (kind == checksum_kind::crc64nvme) return shift_sum(crc64nvme_polynomial, a, b_length) ^ b;
  return shift_sum(crc32_polynomial, static_cast<std::uint32_t>(a), b_length) ^ b;
}

DATAFLUX_INLINE void checksum_run::extend(bytes_view bytes) noexcept {
  if (wanted_.kind == checksum_kind::xxhash64) {
    hash_.extend(bytes);
  } else {
    made_ = extend_sum(wanted_.kind, made_, bytes);
  }
}

DATAFLUX_INLINE bool checksum_run::good() const noexcept {
  return wanted_.value == (wanted_.kind == checksum_kind::xxhash64 ? hash_.value() : made_);
}

DATAFLUX_INLINE std::string_view to_string(checksum_kind kind) noexcept {
  if (kind == checksum_kind::xxhash64) return "XXH64";
  return kind == checksum_kind::crc64nvme ? "CRC64NVME" : "CRC32";
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
