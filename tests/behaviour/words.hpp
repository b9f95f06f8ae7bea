#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

/// What driver.cpp needs beside the library: words of lines and of answers, bytes of the pattern.
namespace behaviour {

using bytes = std::vector<std::byte>;
using words = std::vector<std::string>;

inline std::string text(std::string_view word) {
  std::string made;
  if (word == "\"\"") return made;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      made += word[i];
      continue;
    }
    made += static_cast<char>(std::stoi(std::string(word.substr(i + 1, 2)), nullptr, 16));
    i += 2;
  }
  return made;
}

inline std::string coded(std::string_view name) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  std::string made;
  for (const char c : name) {
    const auto value = static_cast<unsigned char>(c);
    if (plain.find(c) != std::string_view::npos) {
      made += c;
    } else {
      made.append({'%', digits[value / 16U], digits[value % 16U]});
    }
  }
  return made;
}

inline words split(const std::string& line, char mark) {
  words made;
  std::istringstream from(line);
  for (std::string word; std::getline(from, word, mark);) made.push_back(word);
  return made;
}

inline std::uint64_t number(const std::string& word) {
  return word == "end" ? dataflux::byte_range::to_end : std::stoull(word);
}
inline std::vector<std::uint64_t> sizes_of(const std::string& word) {
  std::vector<std::uint64_t> made;
  for (const std::string& size : split(text(word), ',')) made.push_back(number(size));
  return made;
}

inline bytes pattern(std::uint64_t size, std::uint64_t offset = 0) {
  bytes made(size);
  for (std::uint64_t i = 0; i < size; ++i) made[i] = static_cast<std::byte>((offset + i) % 251);
  return made;
}

inline std::string of_sum(std::uint64_t size, std::uint32_t sum) {
  char shown[16];
  std::snprintf(shown, sizeof shown, "%08x", static_cast<unsigned>(sum));
  return " " + std::to_string(size) + " " + shown;
}
inline std::string known(dataflux::bytes_view read) {
  return of_sum(read.size(), dataflux::crc32c(read));
}
inline std::string of_object(const dataflux::object_metadata& made) {
  return of_sum(made.size, made.crc32c.value_or(0));
}

}  // namespace behaviour
