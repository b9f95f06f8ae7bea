#pragma once

#include <dataflux/store/synthetic_objects.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Names in memory as the objects of a memory_store's bucket; sizes and generations follow from the
/// rank. Markers of folders (names that end in "/") are empty.
class sorted_names final : public dataflux::name_source {
 public:
  explicit sorted_names(std::vector<std::string> names) : names_(std::move(names)) {
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
  }
  const std::vector<std::string>& names() const noexcept { return names_; }
  static std::uint64_t size_of(std::string_view name, std::size_t rank) {
    return name.ends_with('/') ? 0 : rank % 1000 + 1;
  }
  void scan(std::string_view from, visitor& visit) const override {
    auto at = std::lower_bound(names_.begin(), names_.end(), from);
    for (; at != names_.end(); ++at) {
      const auto rank = static_cast<std::size_t>(at - names_.begin());
      if (!visit({*at, size_of(*at, rank), static_cast<std::int64_t>(rank + 1), 7})) return;
    }
  }

 private:
  std::vector<std::string> names_;
};
