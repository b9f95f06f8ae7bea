#pragma once

#include <dataflux/shard/detail/tar_writer.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

// Where the fields of a header lie, and how long texts may be there.
inline constexpr std::size_t tar_name_room = 100;
inline constexpr std::size_t tar_prefix_room = 155;
/// The first size that eleven octal digits do not hold.
inline constexpr std::uint64_t tar_sizes = std::uint64_t{1} << 33U;
/// Of a pax header, as Python's tarfile names it.
inline constexpr std::string_view pax_header_name{"././@PaxHeader"};

/// Digits of a number in front of a NUL, from `at` on.
inline void put_octal(char* at, std::size_t digits, std::uint64_t value) noexcept {
  for (std::size_t i = digits; i-- > 0; value /= 8) at[i] = static_cast<char>('0' + value % 8);
}

struct tar_name_parts {
  std::string_view prefix{};
  std::string_view name{};
};

/// Where a header's two fields hold the name; nothing where they do not.
inline std::optional<tar_name_parts> fit_tar_name(std::string_view name) noexcept {
  if (name.size() <= tar_name_room) return tar_name_parts{{}, name};
  const std::string_view front = name.substr(0, tar_prefix_room + 1);
  const std::size_t slash = front.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return std::nullopt;
  const std::string_view rest = name.substr(slash + 1);
  if (rest.empty() || rest.size() > tar_name_room) return std::nullopt;
  return tar_name_parts{name.substr(0, slash), rest};
}

inline void append_tar_block(std::string& out, const tar_name_parts& parts, std::uint64_t size,
                             char type) {
  const std::size_t begin = out.size();
  out.resize(begin + tar_block, '\0');
  char* const to = out.data() + begin;
  std::copy(parts.name.begin(), parts.name.end(), to);
  std::copy_n("0000444", 7, to + 100);
  std::copy_n("0000000", 7, to + 108);
  std::copy_n("0000000", 7, to + 116);
  put_octal(to + 124, 11, size);
  put_octal(to + 136, 11, 0);
  to[156] = type;
  std::copy_n(
      "ustar\0"
      "00",
      8, to + 257);
  std::copy(parts.prefix.begin(), parts.prefix.end(), to + 345);
  // Of what is not zero; the sum counts its own field as spaces.
  std::uint64_t sum = 8 * std::uint64_t{' '};
  const auto count = [&](std::size_t at, std::size_t bytes) {
    for (std::size_t i = at; i < at + bytes; ++i) sum += static_cast<unsigned char>(to[i]);
  };
  count(0, parts.name.size());
  count(100, 57);
  count(257, 8);
  count(345, parts.prefix.size());
  put_octal(to + 148, 6, sum);
  to[155] = ' ';
}

/// A record says its own length, digits included.
inline void append_pax_record(std::string& out, std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;  // a space, '=' and a line break
  std::size_t length = rest + 1;
  while (rest + std::to_string(length).size() != length) {
    length = rest + std::to_string(length).size();
  }
  out.append(std::to_string(length)).append(1, ' ').append(key).append(1, '=').append(value);
  out.append(1, '\n');
}

DATAFLUX_INLINE void append_tar_header(std::string& out, std::string_view name,
                                       std::uint64_t size) {
  const auto parts = fit_tar_name(name);
  if (!parts || size >= tar_sizes) {
    std::string records;
    if (!parts) append_pax_record(records, "path", name);
    if (size >= tar_sizes) append_pax_record(records, "size", std::to_string(size));
    append_tar_block(out, {{}, pax_header_name}, records.size(), 'x');
    out.append(records).append(tar_padding(records.size()), '\0');
  }
  append_tar_block(out, parts.value_or(tar_name_parts{{}, name.substr(0, tar_name_room)}),
                   size < tar_sizes ? size : 0, '0');
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
