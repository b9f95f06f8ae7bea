#pragma once

#include <dataflux/checkpoint/upload_file.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <support/catch.hpp>
#include <support/store_fixture.hpp>

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

inline constexpr std::size_t part = 256 << 10;

inline std::string pattern(std::size_t size, std::size_t seed = 1) {
  std::string body(size, '\0');
  for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 7 + i / 251 + seed);
  return body;
}

/// A bucket with an object "o" of the bytes "old", 10 ms away on a virtual clock, and a folder with
/// files that are read by real threads.
struct upload_fixture : folder_fixture {
  explicit upload_fixture(std::uint64_t memory = 4 * part)
      : folder_fixture({.traits = {.min_part_size = part}, .rtt = std::chrono::milliseconds(10)},
                       {.upload_memory = memory}) {
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
    auto all = names_in_folder();
    all.erase("f");
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
};
