#pragma once

#include <dataflux/ais/detail/object_state.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/service/detail/state_number.hpp>
#include <dataflux/service/detail/text.hpp>

#include <charconv>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

DATAFLUX_INLINE object_state object_state::of(const http::reply_head& head) noexcept {
  const auto field = [&head](std::string_view name) {
    return service::tag_in(head.find(name).value_or(std::string_view{}));
  };
  return {field("ais-version"), field("ais-checksum-type"), field("ais-checksum-value")};
}

DATAFLUX_INLINE std::string object_state::text() const {
  if (version.empty() && checksum.empty()) return {};
  return std::string{version}.append(":").append(checksum);
}

DATAFLUX_INLINE std::int64_t object_state::generation() const {
  return service::state_number(text());
}

/// All of the text, in that many digits of either case.
template <class Number>
std::optional<Number> read_digits(std::string_view text) noexcept {
  Number value = 0;
  if (text.size() != 2 * sizeof(Number)) return std::nullopt;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

DATAFLUX_INLINE result<told_checksum> checksum_of(const object_state& told) {
  told_checksum out;
  const bool is_crc32c = told.checksum_type == "crc32c";
  if (!is_crc32c && told.checksum_type != "xxhash2") return out;
  if (told.checksum.empty()) return out;
  if (is_crc32c) {
    out.crc32c = read_digits<std::uint32_t>(told.checksum);
  } else if (const auto value = read_digits<std::uint64_t>(told.checksum)) {
    out.other = codec::whole_checksum{codec::checksum_kind::xxhash64, *value};
  }
  if (out.crc32c || out.other) return out;
  return error{errc::internal, "the reply has a checksum that is malformed"};
}

DATAFLUX_INLINE std::string xxhash2_text(std::uint64_t value) { return hexadecimal(value, 16); }

DATAFLUX_INLINE std::string hexadecimal(std::uint64_t value, std::size_t digit_count) {
  constexpr std::string_view digits{"0123456789abcdef"};
  std::string out(digit_count, '0');
  for (std::size_t i = out.size(); i-- > 0; value >>= 4U) out[i] = digits[value & 0xFU];
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais
