#pragma once
// The requests of each case, and the check of its replies' bytes, for clients that write their own
// HTTP: what is asked for is the same as our client asks for.

#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "measure.hpp"
#include "shapes.hpp"

namespace bench {

enum class shape { get16k, range8m, listpage, put32m };

inline shape parse_shape(std::string_view name) {
  if (name == "get16k") return shape::get16k;
  if (name == "range8m") return shape::range8m;
  if (name == "listpage") return shape::listpage;
  if (name == "put32m") return shape::put32m;
  fail("unknown case", name);
}

inline std::string object_path(std::string_view name) {
  std::string out = "/storage/v1/b/bench/o/";
  for (const char c : name) c == '/' ? out += "%2F" : out += c;
  return out + "?alt=media";
}

inline std::string list_path(std::string_view token) {
  std::string out =
      "/storage/v1/b/bench/o?prettyPrint=false&maxResults=1000"
      "&fields=nextPageToken%2Citems%28name%2Csize%2Cgeneration%2Ccrc32c%29";
  if (!token.empty()) out += "&pageToken=" + std::string(token);
  return out;
}

inline std::string part_path(std::uint64_t number) {
  return "/bench/" + std::string(upload_object) +
         "?partNumber=" + std::to_string(number % 10000 + 1) +
         "&uploadId=" + std::string(upload_id);
}

/// The first byte of range number `index`; ranges wrap around at the object's end.
inline std::uint64_t range_start(std::uint64_t index) {
  return index % (large_size / block_size) * block_size;
}

/// Ends the program unless `body` begins the block. Only for warm-up: it costs as much as a
/// checksum.
inline void check_body(std::string_view body) {
  static const std::span<unsigned char> block = [] {
    const auto memory = touched_memory(block_size);
    fill_block(memory);
    return memory;
  }();
  if (body.size() > block.size() || std::memcmp(body.data(), block.data(), body.size()) != 0)
    fail("wrong bytes");
}

}  // namespace bench
