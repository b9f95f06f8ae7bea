#pragma once

#include <dataflux/codec/detail/tar_header.hpp>

#include <algorithm>
#include <cstring>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// Where a field of a header stands.
struct tar_field {
  std::size_t begin;
  std::size_t size;
};
inline constexpr tar_field tar_name{0, 100};
inline constexpr tar_field tar_size{124, 12};
inline constexpr tar_field tar_checksum{148, 8};
inline constexpr std::size_t tar_type_at = 156;
inline constexpr tar_field tar_magic{257, 6};
inline constexpr tar_field tar_prefix{345, 155};

inline std::string_view field_of(bytes_view block, tar_field field) noexcept {
  return as_text(block.subspan(field.begin, field.size));
}

/// Up to its first NUL.
inline std::string_view text_of(bytes_view block, tar_field field) noexcept {
  const std::string_view text = field_of(block, field);
  return text.substr(0, text.find('\0'));
}

/// Two's complement, whose sign is the bit below the mark.
inline std::optional<std::int64_t> parse_base256(std::string_view field) noexcept {
  const auto first = static_cast<unsigned char>(field.front());
  const bool negative = (first & 0x40U) != 0;
  std::uint64_t value = negative ? ~std::uint64_t{0} << 6U | (first & 0x3fU) : first & 0x3fU;
  for (const char c : field.substr(1)) {
    // What goes out at the top, and the sign bit that is left, must all be the sign.
    const auto top = static_cast<std::int64_t>(value) >> 55U;
    if (top != (negative ? -1 : 0)) return std::nullopt;
    value = value << 8U | static_cast<unsigned char>(c);
  }
  return static_cast<std::int64_t>(value);
}

DATAFLUX_INLINE std::optional<std::int64_t> parse_tar_number(std::string_view field) noexcept {
  if (field.empty()) return 0;
  if ((static_cast<unsigned char>(field.front()) & 0x80U) != 0) return parse_base256(field);
  field = field.substr(0, field.find('\0'));
  field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
  std::uint64_t value = 0;
  while (!field.empty() && field.front() != ' ') {
    const auto digit = static_cast<unsigned char>(field.front() - '0');
    if (digit > 7 || value >> 60U != 0) return std::nullopt;
    value = value << 3U | digit;
    field.remove_prefix(1);
  }
  if (field.find_first_not_of(' ') != std::string_view::npos) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

DATAFLUX_INLINE bool is_zero(bytes_view bytes) noexcept {
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= bytes.size(); at += sizeof word) {
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (word != 0) return false;
  }
  const bytes_view rest = bytes.subspan(at);
  return std::all_of(rest.begin(), rest.end(), [](std::byte b) { return b == std::byte{0}; });
}

/// The sum of all bytes: eight at a time, in four sums of 16 bits, which 512 bytes cannot overflow.
inline std::uint32_t sum_of_bytes(bytes_view block) noexcept {
  constexpr std::uint64_t even = 0x00ff00ff00ff00ff;
  std::uint64_t sums = 0;
  for (std::size_t at = 0; at < tar_block; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, block.data() + at, sizeof word);
    sums += (word & even) + (word >> 8U & even);
  }
  std::uint32_t sum = 0;
  for (; sums != 0; sums >>= 16U) sum += sums & 0xffffU;
  return sum;
}

DATAFLUX_INLINE bool has_good_checksum(bytes_view block) noexcept {
  const auto told = parse_tar_number(field_of(block, tar_checksum));
  if (!told) return false;
  // The field itself counts as spaces.
  std::int64_t sum = sum_of_bytes(block);
  for (const char c : field_of(block, tar_checksum)) sum += ' ' - static_cast<unsigned char>(c);
  if (*told == sum) return true;
  const auto negative = [](std::byte b) { return b >= std::byte{0x80}; };
  sum -= 256 * std::count_if(block.begin(), block.end(), negative);
  const bytes_view field = block.subspan(tar_checksum.begin, tar_checksum.size);
  return *told == sum + 256 * std::count_if(field.begin(), field.end(), negative);
}

inline tar_type type_of(char letter, std::string_view name) noexcept {
  switch (letter) {
    case '\0':
      return name.ends_with('/') ? tar_type::directory : tar_type::file;
    case '0':
    case '7':
      return tar_type::file;
    case '1':
      return tar_type::hard_link;
    case '2':
      return tar_type::symlink;
    case '3':
    case '4':
    case '6':
      return tar_type::device;
    case '5':
      return tar_type::directory;
    case 'S':
      return tar_type::sparse;
    case 'L':
      return tar_type::long_name;
    case 'K':
      return tar_type::long_link;
    case 'x':
    case 'X':
      return tar_type::records;
    case 'g':
      return tar_type::global_records;
    default:
      return tar_type::other;
  }
}

DATAFLUX_INLINE std::optional<tar_header> parse_tar_header(bytes_view block) noexcept {
  if (!has_good_checksum(block)) return std::nullopt;
  tar_header header;
  const auto size = parse_tar_number(field_of(block, tar_size));
  if (size && *size >= 0) header.size = static_cast<std::uint64_t>(*size);
  header.name = text_of(block, tar_name);
  header.type = type_of(field_of(block, {tar_type_at, 1}).front(), header.name);
  // GNU tar's own headers, whose magic ends in spaces, have times and holes in that place.
  if (field_of(block, tar_magic) == std::string_view{"ustar\0", 6}) {
    header.prefix = text_of(block, tar_prefix);
  }
  return header;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
