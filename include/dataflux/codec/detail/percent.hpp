#pragma once

#include <dataflux/detail/config.hpp>

#include <optional>
#include <string>
#include <string_view>

/// Percent-encoding by the service's rule (protocol.md 0.1): every byte except A-Z a-z 0-9 - . _ ~
/// becomes '%' and two upper-case hexadecimal digits. That includes '%' itself, without which
/// "a%2Fb" and "a/b" would be one request, and '+', which form decoders read as a space.
///
/// Pure functions over bytes: thread-safe; text need not be UTF-8. Encoding is on the path of every
/// request, hence the appending form: linear time, at most one growth of `out`.
namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// Appends `text` as one path segment or query value: '/' is encoded too. `text` must not point
/// into `out`.
void append_percent(std::string& out, std::string_view text);

/// The same as several segments of a path: '/' stays.
void append_percent_path(std::string& out, std::string_view text);

/// The bytes of an encoded text. Any byte that is not part of an escape stands for itself ('+' is a
/// plus); both cases of digits are read. nullopt for a '%' without two hexadecimal digits.
std::optional<std::string> decode_percent(std::string_view text);

/// The same by the rule of forms (application/x-www-form-urlencoded): '+' is a space.
std::optional<std::string> decode_form(std::string_view text);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/percent.ipp>
#endif
