#pragma once

#include <emulator/message.hpp>
#include <emulator/stored_object.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace emulator {

struct range {
  std::uint64_t offset;
  std::uint64_t count;
};
/// The one range that a Range header asks of an object of that size, clamped; empty optional when
/// the header is to be ignored (absent, malformed, reversed, several). Throws range_not_satisfiable
/// (protocol.md 1.2).
std::optional<range> parse_range(std::string_view header, std::uint64_t size);

/// An object's bytes as `alt=media` and XML GET give them: range, transcoding, all headers.
http_reply media_reply(const stored_object& object, const http_request& request, bool xml);

/// x-goog-hash, x-goog-generation and the other headers that say which object it is.
void set_object_headers(http_reply& reply, const stored_object& object, bool xml);

}  // namespace emulator
