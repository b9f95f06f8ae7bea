#pragma once

#include <dataflux/codec/detail/json.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// What the texts of sets have in common.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// Of eight lower-case hexadecimal digits.
std::optional<std::uint32_t> parse_hex32(std::string_view text) noexcept;

/// The values of an object that has exactly these keys, each once, in the order of `keys`. Errors:
/// invalid_argument that says which key.
result<void> read_members(const codec::json_value& object, std::span<const std::string_view> keys,
                          std::span<codec::json_value> values);

/// For messages: in quotes, control characters escaped.
std::string json_quoted(std::string_view name);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/record_text.ipp>
#endif
