#pragma once

#include <dataflux/checkpoint/member_record.hpp>
#include <dataflux/codec/crc32c.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

/// A record whose parts have these sizes, and checksums as of some bytes.
inline dataflux::member_record record_of(std::string name, std::vector<std::uint64_t> sizes,
                                         std::int64_t generation = 7) {
  dataflux::member_record record{.name = std::move(name), .generation = generation};
  dataflux::crc32c_accumulator whole;
  for (const std::uint64_t size : sizes) {
    const std::uint32_t crc = 0x9e3779b9U * (static_cast<std::uint32_t>(whole.length()) + 1);
    record.parts.push_back({size, crc});
    whole.append({crc, size});
  }
  record.size = whole.length();
  record.crc32c = whole.crc();
  return record;
}

inline bool equal(const dataflux::member_record& a, const dataflux::member_record& b) {
  if (a.parts.size() != b.parts.size()) return false;
  for (std::size_t i = 0; i < a.parts.size(); ++i) {
    if (a.parts[i].size != b.parts[i].size || a.parts[i].crc32c != b.parts[i].crc32c) return false;
  }
  return a.name == b.name && a.size == b.size && a.generation == b.generation &&
         a.crc32c == b.crc32c;
}
