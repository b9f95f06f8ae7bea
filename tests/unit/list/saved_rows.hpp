#pragma once

#include <dataflux/list/manifest.hpp>
#include <dataflux/store/object_columns.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

/// What the tests of manifests save and expect back.
namespace saved {

inline std::string name_of(std::size_t i) {
  const std::string digits = std::to_string(i);
  return "train/" + std::string(8 - digits.size(), '0') + digits + std::string(i % 5, 'x');
}
inline std::optional<std::uint32_t> crc_of(std::size_t i) {
  if (i % 1009 == 17) return std::nullopt;
  return static_cast<std::uint32_t>(i * 2654435761U);
}
inline void append(dataflux::object_columns& to, std::size_t i) {
  const std::string name = name_of(i);
  const dataflux::object_row row{name, i * 3, static_cast<std::int64_t>(i + 1), crc_of(i)};
  if (to.kept() == dataflux::extra_columns::none) {
    return to.append(row.name, row.size, row.generation, row.crc32c);
  }
  dataflux::object_extras extras;
  const std::string pairs = R"({"k":")" + std::to_string(i) + "\"}";
  if (i % 4 != 0) extras.md5.emplace().fill(static_cast<std::byte>(i));
  extras.updated = dataflux::timestamp{std::chrono::nanoseconds{i}};
  if (i % 3 != 0) extras.content_type = "text/plain";
  if (i % 2 != 0) extras.metadata = pairs;
  to.append(row, extras);
}
inline dataflux::object_columns rows(std::size_t from, std::size_t to,
                                     dataflux::extra_columns kept = {}) {
  dataflux::object_columns out{kept};
  for (std::size_t i = from; i < to; ++i) append(out, i);
  return out;
}

inline bool same_extras(const dataflux::object_extras& a, const dataflux::object_extras& b) {
  return a.md5 == b.md5 && a.created == b.created && a.updated == b.updated &&
         a.content_type == b.content_type && a.storage_class == b.storage_class &&
         a.metadata == b.metadata;
}
inline bool same(const dataflux::object_columns& a, const dataflux::object_columns& b) {
  if (a.size() != b.size()) return false;
  auto other = b.begin();
  for (auto row = a.begin(); row != a.end(); ++row, ++other) {
    const auto x = *row;
    const auto y = *other;
    if (x.name != y.name || x.size != y.size || x.generation != y.generation ||
        x.crc32c != y.crc32c || !same_extras(row.extras(), other.extras())) {
      return false;
    }
  }
  return true;
}

inline dataflux::manifest_description description() {
  return {.bucket = "bkt",
          .prefix = "train/\xc3\xa4\"",
          .start_offset = "a",
          .end_offset = "z",
          .match_glob = "**.jpg",
          .versions = false,
          .taken = dataflux::timestamp{std::chrono::nanoseconds{1'700'000'000'123'456'789}},
          .options = {{"suffix", ".jpg"}, {"min_size", "1"}}};
}

}  // namespace saved
