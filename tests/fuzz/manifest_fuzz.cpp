#include <dataflux/list/manifest.hpp>

#include <fuzz/block_file_copy.hpp>
#include <fuzz/manifest_fuzz.hpp>
#include <fuzz/require.hpp>

#include <algorithm>
#include <string_view>

namespace {

std::size_t touch(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), 'a'));
}

void read_all(const fuzz::block_file_copy& copy) {
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
  fuzz::block_file_copy copy{input};
  read_all(copy);
  copy.make_good(28);
  read_all(copy);
}
