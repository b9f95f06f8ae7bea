#include <dataflux/codec/crc32c.hpp>
#include <dataflux/list/manifest.hpp>

#include <fuzz/manifest_fuzz.hpp>
#include <fuzz/require.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace {

/// Memory of exactly this size, aligned as a mapping is, so that the address sanitizer sees a step
/// too far.
struct exact_copy {
  explicit exact_copy(std::span<const std::byte> from)
      : size(from.size()), data(static_cast<std::byte*>(std::malloc(size == 0 ? 1 : size))) {
    if (size != 0) std::memcpy(data.get(), from.data(), size);
  }
  struct release {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };
  std::size_t size;
  std::unique_ptr<std::byte, release> data;

  dataflux::bytes_view bytes() const { return {data.get(), size}; }
  template <class T>
  T at(std::size_t place) const {
    T value;
    std::memcpy(&value, data.get() + place, sizeof value);
    return value;
  }
  void seal(std::size_t from, std::size_t count, std::size_t place) {
    const std::uint32_t crc = dataflux::crc32c(bytes().subspan(from, count));
    std::memcpy(data.get() + place, &crc, sizeof crc);
  }
  bool holds(std::uint64_t from, std::uint64_t count) const {
    return from <= size && count <= size - from;
  }
};

/// Every checksum of the format that has its place inside.
void make_good(exact_copy& m) {
  if (m.size < 128) return;
  const std::size_t end = m.size - 64;
  m.seal(0, 60, 60);
  const auto table = m.at<std::uint64_t>(end + 16);
  const std::uint64_t table_bytes = std::uint64_t{m.at<std::uint32_t>(end + 36)} * 64;
  if (m.holds(table, table_bytes)) {
    for (std::uint64_t entry = table; entry < table + table_bytes; entry += 64) {
      const auto begin = m.at<std::uint64_t>(entry);
      const auto bytes = m.at<std::uint64_t>(entry + 8);
      if (m.holds(begin, bytes)) m.seal(begin, bytes, entry + 28);
    }
    m.seal(table, table_bytes, end + 40);
  }
  const auto text = m.at<std::uint64_t>(end + 24);
  const auto text_bytes = m.at<std::uint32_t>(end + 32);
  if (m.holds(text, text_bytes)) m.seal(text, text_bytes, end + 44);
  m.seal(end, 52, end + 52);
}

std::size_t touch(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), 'a'));
}

void read_all(const exact_copy& copy) {
  const auto opened = dataflux::manifest::over(copy.bytes(), nullptr);
  if (!opened) return;
  const auto rows = opened->rows();
  if (!rows) return;
  require(rows->size() == opened->size());
  std::size_t sum = 0;
  for (auto row = rows->begin(); row != rows->end(); ++row) {
    const dataflux::object_extras extras = row.extras();
    sum += touch((*row).name) + touch(extras.content_type) + touch(extras.storage_class) +
           touch(extras.metadata) + (extras.md5 ? static_cast<std::size_t>(extras.md5->back()) : 0);
  }
  if (!rows->empty()) {
    static_cast<void>(rows->find(rows->name(rows->size() / 2)));
    require(opened->rows(rows->size() / 2, 1).value().size() == 1);
  }
  const auto same = opened->changes_to(*rows);
  require(!same || (same->empty() && same->unchanged == rows->size()));
  require(sum < static_cast<std::size_t>(-1));
}

}  // namespace

void fuzz_manifest(std::span<const std::byte> input) {
  exact_copy copy{input};
  read_all(copy);
  make_good(copy);
  read_all(copy);
}
