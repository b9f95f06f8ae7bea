#pragma once

#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A bucket "bkt" on the virtual clock, 20 ms away, whose listings have pages of seven.
struct removal_fixture {
  using metadata = std::vector<std::pair<std::string, std::string>>;

  removal_fixture()
      : store(clock, {.traits = {.max_list_page = 7}, .rtt = std::chrono::milliseconds(20)}) {
    store.create_bucket("bkt");
  }

  std::int64_t put(const std::string& name, std::string_view text = "12345") {
    return store.put("bkt", name, dataflux::as_bytes(text));
  }
  void put_many(const std::string& prefix, int count) {
    for (int i = 0; i < count; ++i) put(prefix + std::to_string(i));
  }
  void insert(const std::string& name, metadata pairs) {
    REQUIRE(finish(
        store.submit(dataflux::insert_request{.bucket = "bkt",
                                              .object = name,
                                              .data = dataflux::as_bytes("12345"),
                                              .attributes = {.metadata = std::move(pairs)}})));
  }
  template <class T>
  dataflux::result<T> finish(dataflux::operation<T> op) {
    clock.run();
    REQUIRE(op.poll());
    return op.take();
  }
  std::set<std::string> names(bool versions = false) {
    std::set<std::string> out;
    dataflux::list_page_request r{.bucket = "bkt", .versions = versions};
    do {
      const auto page = finish(store.submit(r)).value();
      for (const auto row : page.objects) out.emplace(row.name);
      r.page_token = page.next_page_token;
    } while (!r.page_token.empty());
    return out;
  }
  /// Calls of `verb` fail with `code`, those alone whose object `which` picks.
  void fail(dataflux::store_verb verb, dataflux::errc code,
            std::function<bool(std::string_view)> which = {}) {
    store.set_faults([=](dataflux::store_verb v, std::string_view object,
                         std::uint64_t) -> std::optional<dataflux::injected_fault> {
      if (v != verb || (which && !which(object))) return std::nullopt;
      return dataflux::injected_fault{.failure = dataflux::error(code, "scripted")};
    });
  }

  dataflux::virtual_scheduler clock{};
  dataflux::memory_store store;
};
