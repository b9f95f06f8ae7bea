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

enum class shape {
  get16k,
  get100k,
  range8m,
  one1g,
  file1g,
  listpage,
  put32m,
  save,
  stat,
  remove,
  insert
};

inline shape parse_shape(std::string_view name) {
  if (name == "get16k") return shape::get16k;
  if (name == "get100k") return shape::get100k;
  if (name == "range8m") return shape::range8m;
  if (name == "one1g") return shape::one1g;
  if (name == "file1g") return shape::file1g;
  if (name == "listpage") return shape::listpage;
  if (name == "put32m") return shape::put32m;
  if (name == "save") return shape::save;
  if (name == "stat") return shape::stat;
  if (name == "delete") return shape::remove;
  if (name == "insert") return shape::insert;
  fail("unknown case", name);
}

inline std::string object_path(std::string_view name, std::string_view query) {
  std::string out = "/storage/v1/b/bench/o/";
  for (const char c : name) c == '/' ? out += "%2F" : out += c;
  return out.append(query);
}

inline constexpr std::string_view insert_type =
    "multipart/related; boundary=0f3a5c7e9b1d2f4a6c8e0b2d4f6a8c0e";

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

/// The body of an insert of the small object: its resource, then its bytes.
inline std::span<unsigned char> insert_body() {
  const auto block = touched_memory(block_size);
  fill_block(block);
  const std::string boundary{"--0f3a5c7e9b1d2f4a6c8e0b2d4f6a8c0e"};
  std::string out =
      boundary + "\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{\"name\":\"";
  out.append(small_object).append("\",\"contentType\":\"application/octet-stream\",");
  out += "\"crc32c\":\"AAAAAA==\"}\r\n" + boundary;
  out += "\r\nContent-Type: application/octet-stream\r\n\r\n";
  out.append(reinterpret_cast<const char*>(block.data()), small_size);
  out += "\r\n" + boundary + "--\r\n";
  const auto kept = touched_memory(out.size());
  std::memcpy(kept.data(), out.data(), out.size());
  return kept;
}

/// What the requests of a case carry; for puts, bytes of no meaning.
inline std::span<unsigned char> request_body(shape asked) {
  if (asked == shape::put32m) return touched_memory(part_size);
  if (asked == shape::save) return touched_memory(saved_parts * part_size);
  if (asked == shape::insert) return insert_body();
  return {};
}

inline std::string request_path(shape asked, std::uint64_t index, std::string_view token) {
  switch (asked) {
    case shape::get16k:
      return object_path(small_object, "?alt=media");
    case shape::get100k:
      return object_path(medium_object, "?alt=media");
    case shape::range8m:
    case shape::one1g:
    case shape::file1g:
      return object_path(large_object, "?alt=media");
    case shape::listpage:
      return list_path(token);
    case shape::put32m:
    case shape::save:
      return part_path(index);
    case shape::stat:
    case shape::remove:
      return object_path(small_object, "?prettyPrint=false");
    case shape::insert:
      break;
  }
  return "/upload/storage/v1/b/bench/o?uploadType=multipart&prettyPrint=false";
}

/// Does the path of a request differ from the one before?
inline bool has_own_path(shape asked) {
  return asked == shape::listpage || asked == shape::put32m || asked == shape::save;
}

/// What request number `index` carries of request_body().
inline std::span<unsigned char> body_of(shape asked, std::span<unsigned char> all,
                                        std::uint64_t index) {
  return asked == shape::save ? all.subspan(index % saved_parts * part_size, part_size) : all;
}

/// Is it the large object, by ranges of a block?
inline bool by_ranges(shape asked) {
  return asked == shape::range8m || asked == shape::one1g || asked == shape::file1g;
}

/// Is the reply's body a piece of the block?
inline bool gives_content(shape asked) {
  return asked == shape::get16k || asked == shape::get100k || by_ranges(asked);
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
