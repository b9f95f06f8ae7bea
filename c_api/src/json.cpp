#include "json.hpp"

#include <dataflux/codec/detail/utf8.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dataflux_c {

std::string utf8_of(std::string_view text) {
  using dataflux::detail::codec::is_valid_utf8;
  if (is_valid_utf8(text)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    std::size_t size = 1;
    while (size <= std::min<std::size_t>(text.size(), 4) && !is_valid_utf8(text.substr(0, size))) {
      ++size;
    }
    const bool good = size <= std::min<std::size_t>(text.size(), 4);
    out += good ? text.substr(0, size) : std::string_view("\xef\xbf\xbd");
    text.remove_prefix(good ? size : 1);
  }
  return out;
}

void write_error(dataflux::detail::codec::json_writer& w, const dataflux::error& why) {
  w.key("status").integer(static_cast<std::int64_t>(why.code()));
  w.key("text").string(utf8_of(why.to_string()));
}

}  // namespace dataflux_c
