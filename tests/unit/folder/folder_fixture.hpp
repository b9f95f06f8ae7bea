#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/folder/copy_folder.hpp>
#include <dataflux/store/memory_store.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <support/temporary_folder.hpp>
#include <support/threaded_virtual_clock.hpp>

inline std::string noise(std::size_t size, int seed = 1) {
  std::string body(size, '\0');
  for (std::size_t i = 0; i < size; ++i)
    body[i] = static_cast<char>(i * 7 + i / 251 + static_cast<std::size_t>(seed));
  return body;
}

/// A bucket 10 ms away on a virtual clock, and a folder whose files are read and written by real
/// threads. Small files are those of up to 256 KiB up, and of up to 100,000 bytes down.
struct folder_fixture {
  static constexpr std::size_t part = 256 << 10;
  static constexpr std::size_t slice = 100'000;
  using tree = std::map<std::string, std::string>;

  folder_fixture()
      : store(clock, {.traits = {.min_part_size = part}, .rtt = std::chrono::milliseconds(10)}),
        context(store, {.slice = slice, .upload_memory = 4 * part}) {
    store.create_bucket("bkt");
  }

  /// All below the folder t, and "p/" in the bucket; what becomes of names is kept in `told`.
  dataflux::copy_folder_request request() {
    dataflux::copy_folder_request r;
    r.path = root().string();
    r.bucket = "bkt";
    r.prefix = "p";
    r.item = [this](const dataflux::copy_item& item) {
      told.emplace(item.outcome, std::string(item.object.empty() ? item.path : item.object));
      if (item.failure != nullptr) why.push_back(*item.failure);
    };
    return r;
  }
  template <class T>
  dataflux::result<T> end(dataflux::operation<T>& op) {
    while (!op.poll()) REQUIRE(clock.step());
    return op.take();
  }
  dataflux::result<dataflux::copy_folder_report> up(dataflux::copy_folder_request r) {
    told.clear();
    why.clear();
    auto op = dataflux::submit_upload_folder(context, std::move(r));
    return end(op);
  }
  dataflux::result<dataflux::copy_folder_report> down(dataflux::copy_folder_request r) {
    told.clear();
    why.clear();
    auto op = dataflux::submit_download_folder(context, std::move(r));
    return end(op);
  }

  std::filesystem::path root() const { return scratch.path / "t"; }
  void write(const std::string& name, std::string_view body) const {
    const auto path = root() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << body;
  }
  void write(const tree& files) const {
    for (const auto& [name, body] : files) write(name, body);
  }
  void put(const std::string& name, std::string_view body) {
    store.put("bkt", name, dataflux::as_bytes(body));
  }
  void put(const tree& objects) {
    for (const auto& [name, body] : objects) put("p/" + name, body);
  }
  /// The folder's regular files, hidden ones included; links are not followed.
  tree files() const {
    tree all;
    if (!std::filesystem::exists(root())) return all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root())) {
      if (entry.symlink_status().type() != std::filesystem::file_type::regular) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      all[std::filesystem::relative(entry.path(), root()).string()] =
          std::string(std::istreambuf_iterator<char>(in), {});
    }
    return all;
  }
  /// What lies below "p/".
  tree objects() {
    tree all;
    auto listing = store.submit_list_page({.bucket = "bkt"});
    const auto page = end(listing);
    for (const auto& row : page->objects) {
      if (!row.name.starts_with("p/")) continue;
      std::string body(row.size, '\0');
      dataflux::span_sink sink(std::as_writable_bytes(std::span(body)));
      auto read = store.submit_read({.bucket = "bkt", .object = std::string(row.name)}, sink);
      REQUIRE(end(read));
      all[std::string(row.name.substr(2))] = std::move(body);
    }
    return all;
  }
  std::set<std::string> told_as(dataflux::copy_outcome outcome) const {
    std::set<std::string> names;
    const auto [first, last] = told.equal_range(outcome);
    for (auto at = first; at != last; ++at) names.insert(at->second);
    return names;
  }
  std::uint64_t count(dataflux::store_verb verb) const { return store.counters().of(verb); }
  /// Every request of that verb for that object fails so.
  void fail(dataflux::store_verb verb, std::string object, const dataflux::error& with) {
    store.set_faults([=, object = std::move(object)](dataflux::store_verb v, std::string_view name,
                                                     std::uint64_t) {
      std::optional<dataflux::injected_fault> fault;
      if (v == verb && name == object) fault.emplace().failure = with;
      return fault;
    });
  }
  /// Nothing is held any more, and nothing lies open.
  void clean() {
    CHECK(store.open_uploads() == 0);
    CHECK(store.in_flight() == 0);
    CHECK(context.state()->uploads.memory.held() == 0);
    CHECK(context.state()->uploads.memory.free_to_own() == context.options().upload_memory);
    CHECK(context.state()->uploads.memory.peak() <= context.options().upload_memory);
    CHECK(context.counters().held == 0);
    for (const auto& [name, body] : files()) {
      INFO(name);
      CHECK(name.find(".dataflux-") == std::string::npos);
    }
  }

  threaded_virtual_clock clock{};
  dataflux::memory_store store;
  dataflux::transfer_context context;
  const temporary_folder scratch{};
  std::multimap<dataflux::copy_outcome, std::string> told{};
  std::vector<dataflux::error> why{};
};
