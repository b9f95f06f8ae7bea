#pragma once

#include <emulator/stored_object.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace emulator {

/// The live objects of a bucket in UTF-8 byte order (std::string compares bytes as unsigned).
using object_map = std::map<std::string, object_ptr, std::less<>>;
/// The noncurrent generations of each name, oldest first; no name with none.
using generation_map = std::map<std::string, std::map<std::int64_t, object_ptr>, std::less<>>;

/// The parameters of objects.list (protocol.md 1.1).
struct listing_request {
  std::string prefix{};
  std::string delimiter{};
  std::string start_offset{};  ///< inclusive
  /// S3's: exclusive, of names and of prefixes that stand for names.
  std::string start_after{};
  std::string end_offset{};  ///< exclusive; empty: no bound
  bool include_trailing_delimiter{false};
  bool versions{false};             ///< noncurrent generations too, oldest first
  bool soft_deleted{false};         ///< those alone
  std::string match_glob{};         ///< empty: all names; applies to prefixes too
  std::uint64_t max_results{1000};  ///< of items and prefixes together; 0 gives an empty page
  std::string page_token{};
};

struct listing_page {
  std::vector<object_ptr> items{};
  std::vector<std::string> prefixes{};
  std::string next_page_token{};  ///< empty at the end
};

/// One page. The token names the place after the last result, so paging needs no state and goes on
/// correctly when objects come and go meanwhile. Throws service_error 400 on a token not from here.
listing_page list(const object_map& live, const generation_map& noncurrent,
                  const listing_request& request);

/// Of a bucket that has no noncurrent generations.
inline listing_page list(const object_map& live, const listing_request& request) {
  return list(live, generation_map{}, request);
}

/// objects.list's matchGlob: '*' and '?' stop at '/', "**" crosses it, [a-z], [!a], {a,b}, and '\\'
/// before a character that is meant as such.
bool matches_glob(std::string_view glob, std::string_view name);

}  // namespace emulator
