#pragma once

#include <dataflux/bytes.hpp>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

class object_list_visitor;
struct object_list_end;

/// True if the raw key at `p` is `Key`, closing quote included. May read past the document into its
/// padding, which is longer than any key here.
template <std::size_t N>
bool is_key(const char* p, const char (&key)[N]) noexcept {
  static_assert(N + 1 < buffer_slack);
  constexpr std::size_t size = N - 1;
  constexpr std::size_t first = size < 8 ? size : 8;  // more at once is a call
  return std::memcmp(p, key, first) == 0 && p[size] == '"' &&
         std::memcmp(p + first, key + first, size - first) == 0;
}

/// Reads a page of objects.list as the service writes it: no white space, no escape, and of an item
/// strings alone. False where the page is written in another way, or wrongly: parse_object_list()
/// says which. `end` counts what the visitor was shown, which is right until there.
///
/// buffer_slack bytes behind the page are readable. Cost: one pass, two thirds of what simdjson
/// takes.
bool read_plain_list(std::string_view page, object_list_visitor& visitor, object_list_end& end);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/plain_list.ipp>
#endif
