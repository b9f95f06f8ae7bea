#pragma once

#include <cstddef>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

/// Tar archives for tests, written from the format and by nothing of the library.
namespace dataflux::test {

inline constexpr std::string_view posix_magic{"ustar\00000", 8};
inline constexpr std::string_view gnu_magic{"ustar  \0", 8};
inline constexpr std::string_view v7_magic{"\0\0\0\0\0\0\0\0", 8};

/// A member or an extension. `size_field` is written as it is; empty: the size of the data.
struct tar_entry {
  std::string name{};
  std::string data{};
  char type{'0'};
  std::string size_field{};
  std::string_view magic{posix_magic};
  std::string prefix{};
};

/// Writes the sum of the 512 bytes at `at` into their field, plus `more`.
inline void seal_tar_header(std::string& bytes, std::size_t at = 0, int more = 0) {
  bytes.replace(at + 148, 8, 8, ' ');
  unsigned sum = 0;
  for (std::size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(bytes[at + i]);
  char text[8] = {};
  std::snprintf(text, sizeof text, "%06o", (sum + static_cast<unsigned>(more)) & 0777777U);
  bytes.replace(at + 148, 7, text, 7);
}

inline std::string tar_header_of(const tar_entry& entry) {
  std::string header(512, '\0');
  char size[13] = {};
  std::snprintf(size, sizeof size, "%011o", static_cast<unsigned>(entry.data.size()));
  header.replace(0, entry.name.size(), entry.name);
  header.replace(100, 7, "0000444");
  header.replace(136, 11, "00000000000");
  if (entry.size_field.empty()) {
    header.replace(124, 12, size, 12);
  } else {
    header.replace(124, entry.size_field.size(), entry.size_field);
  }
  header[156] = entry.type;
  header.replace(257, 8, entry.magic);
  header.replace(345, entry.prefix.size(), entry.prefix);
  seal_tar_header(header);
  return header;
}

/// Headers and data, without an end.
inline std::string tar_members(std::initializer_list<tar_entry> entries) {
  std::string bytes;
  for (const tar_entry& entry : entries) {
    bytes.append(tar_header_of(entry)).append(entry.data);
    bytes.append((512 - entry.data.size() % 512) % 512, '\0');
  }
  return bytes;
}

inline std::string tar_of(std::initializer_list<tar_entry> entries) {
  return tar_members(entries).append(1024, '\0');
}

/// One pax record, with the length that counts itself.
inline std::string pax_record_of(std::string_view key, std::string_view value) {
  const std::size_t bare = key.size() + value.size() + 3;
  std::size_t length = bare;
  while (length != bare + std::to_string(length).size()) ++length;
  return std::to_string(length).append(" ").append(key).append("=").append(value).append("\n");
}

}  // namespace dataflux::test
