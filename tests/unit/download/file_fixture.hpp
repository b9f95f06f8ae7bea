#pragma once

#include <dataflux/download/download_file.hpp>

#include <support/catch.hpp>
#include <support/store_fixture.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "get_fixture.hpp"

using bytes = std::vector<std::byte>;

inline constexpr std::size_t slice = 10'000;
/// Forty slices, of which few are read ahead of the file: it is broken off before its end.
inline constexpr std::size_t many = 395'001;
inline const dataflux::transfer_options few_ahead{.memory_cap = 4 * slice, .slice = slice};

/// A bucket 20 ms away on a virtual clock, and a folder; files are written by real threads.
struct file_fixture : folder_fixture {
  explicit file_fixture(dataflux::transfer_options options = {.slice = slice})
      : folder_fixture({.rtt = std::chrono::milliseconds(20)}, options) {}

  /// As a listing tells it.
  dataflux::download_file_request put(const std::string& name, std::size_t size,
                                      std::uint64_t seed) {
    dataflux::download_file_request r;
    r.bucket = "bucket";
    r.object = name;
    r.generation = store.put("bucket", name, dataflux::synthetic_bytes(size, seed));
    r.object_size = size;
    r.crc32c = dataflux::crc32c(body_of(size, seed));
    r.path = (folder / name).string();
    return r;
  }
  dataflux::download_file_request asked(const std::string& name) const {
    dataflux::download_file_request r;
    r.bucket = "bucket";
    r.object = name;
    r.path = (folder / name).string();
    return r;
  }
  dataflux::result<dataflux::downloaded_file> get(dataflux::download_file_request request) {
    auto op = dataflux::submit_download_file(context, std::move(request));
    return end(op);
  }
  /// Everything in the folder, hidden files included.
  std::map<std::string, bytes> files() const {
    std::map<std::string, bytes> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      const auto view = dataflux::as_bytes(text);
      all[entry.path().filename().string()] = bytes(view.begin(), view.end());
    }
    return all;
  }
  bool holds(const std::string& name, const bytes& body) const {
    const auto all = files();
    return all.size() == 1 && all.begin()->first == name && all.begin()->second == body;
  }
};
