#pragma once

#include <dataflux/list/fast_list.hpp>

#include <support/catch.hpp>
#include <support/scripted_store.hpp>
#include <support/sorted_names.hpp>
#include <support/store_fixture.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

inline constexpr auto fixture_rtt = std::chrono::milliseconds(100);

/// `prefix` and eight digits, from 0 on.
inline std::vector<std::string> numbered(std::size_t count, const std::string& prefix = "train/") {
  std::vector<std::string> names;
  names.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string digits = std::to_string(i);
    names.push_back(prefix + std::string(8 - digits.size(), '0') + digits);
  }
  return names;
}

inline std::vector<std::string> names_of(const dataflux::object_columns& objects) {
  std::vector<std::string> names;
  names.reserve(objects.size());
  for (const auto& row : objects) names.emplace_back(row.name);
  return names;
}

/// A bucket "bucket" on a virtual clock, and what listings of it give. A call takes 0.1 s and 1 ms
/// for each entry.
struct fixture : store_fixture<> {
  explicit fixture(std::vector<std::string> names)
      : store_fixture({.rtt = fixture_rtt, .time_per_listed = std::chrono::milliseconds(1)}),
        source(std::make_shared<sorted_names>(std::move(names))),
        store(inner, [this](const dataflux::list_page_request& r) {
          return fault ? fault(r) : page_fault::none;
        }) {
    inner.create_bucket("bucket", source);
  }
  dataflux::result<dataflux::listing> list(dataflux::fast_list_request request = {}) {
    request.bucket = "bucket";
    return finish(dataflux::submit_fast_list(store, std::move(request)));
  }
  dataflux::listing good(dataflux::fast_list_request request = {}) {
    auto all = list(std::move(request));
    INFO((all ? "" : all.error().to_string()));
    REQUIRE(all);
    return *std::move(all);
  }

  std::shared_ptr<sorted_names> source;
  dataflux::memory_store& inner{store_fixture::store};
  std::function<page_fault(const dataflux::list_page_request&)> fault{};
  scripted_store store;
};
