#pragma once

#include <dataflux/checkpoint/upload_file.hpp>
#include <dataflux/store/memory_store.hpp>
#include <dataflux/transfer/transfer_state.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <support/crossed_clock.hpp>
#include <support/temporary_folder.hpp>

inline constexpr std::size_t part = 256 << 10;

inline std::string pattern(std::size_t size, std::size_t seed = 1) {
  std::string body(size, '\0');
  for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 7 + i / 251 + seed);
  return body;
}

/// A bucket with an object "o" of the bytes "old", 10 ms away on a virtual clock, and a folder with
/// files that are read by real threads.
struct upload_world {
  explicit upload_world(std::uint64_t memory = 4 * part)
      : store(clock, {.traits = {.min_part_size = part}, .rtt = std::chrono::milliseconds(10)}),
        context(store, {.upload_memory = memory}) {
    store.put("bkt", "o", dataflux::as_bytes("old"));
  }

  /// A file "f", which is to become the object.
  dataflux::upload_file_request file(std::string_view body) const {
    dataflux::upload_file_request r;
    r.path = (folder / "f").string();
    std::ofstream(r.path, std::ios::binary) << body;
    r.upload.bucket = "bkt";
    r.upload.object = "o";
    r.upload.part_size = part;
    return r;
  }
  template <class T>
  dataflux::result<T> end(dataflux::operation<T>& op) {
    while (!op.poll()) REQUIRE(clock.step());
    return op.take();
  }
  dataflux::result<dataflux::uploaded_file> upload(dataflux::upload_file_request request) {
    auto op = dataflux::submit_upload_file(context, std::move(request));
    return end(op);
  }
  std::string content() {
    std::string body(std::size_t{8} << 20U, '\0');
    dataflux::span_sink sink(std::as_writable_bytes(std::span(body)));
    auto op = store.submit_read({.bucket = "bkt", .object = "o"}, sink);
    const auto read = end(op);
    body.resize(read ? static_cast<std::size_t>(read->bytes) : 0);
    return body;
  }
  /// In the bucket.
  std::set<std::string> names() {
    auto op = store.submit_list_page({.bucket = "bkt"});
    const auto page = end(op);
    std::set<std::string> all;
    for (const auto& row : page->objects) all.emplace(row.name);
    return all;
  }
  /// In the folder, beside the file.
  std::set<std::string> left() const {
    std::set<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().filename() != "f") all.insert(entry.path().filename().string());
    }
    return all;
  }
  /// Nothing but the object, nothing open, and no journal.
  void clean() {
    CHECK(store.open_uploads() == 0);
    CHECK(names() == std::set<std::string>{"o"});
    CHECK(left().empty());
    CHECK(context.state()->uploads.memory.held() == 0);
    CHECK(context.state()->uploads.memory.peak() <= context.options().upload_memory);
  }
  std::uint64_t count(dataflux::store_verb verb) const { return store.counters().of(verb); }
  /// One failure of a verb, from its `nth` request on `times` of them.
  void fail(dataflux::store_verb verb, std::uint64_t nth, const dataflux::error& why,
            bool lost = false, std::uint64_t times = 1) {
    store.set_faults([=, hits = std::uint64_t{0}](dataflux::store_verb v, std::string_view,
                                                  std::uint64_t) mutable {
      std::optional<dataflux::injected_fault> fault;
      if (v != verb || ++hits < nth || hits >= nth + times) return fault;
      fault.emplace();
      fault->failure = why;
      fault->reply_lost = lost;
      return fault;
    });
  }

  crossed_clock clock{};
  dataflux::memory_store store;
  dataflux::transfer_context context;
  const temporary_folder scratch{};
  const std::filesystem::path& folder{scratch.path};
};
