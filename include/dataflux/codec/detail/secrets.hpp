#pragma once

#include <dataflux/detail/config.hpp>

#include <span>
#include <string>
#include <string_view>

/// What no error may show, although servers repeat it in theirs.
namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// A text with "[removed]" wherever it has the secret: as it is written, or with its escapes of a
/// URL decoded; in any case of letters, with any of its bytes escaped as in URLs (once or more
/// often), JSON or XML, and lines broken in it; in hexadecimal digits, or in Base64, also among
/// other bytes. There a character at either end may stay, which it shares with what is beside it.
/// Goes before anything that may cut a secret in two. Pure, thread-safe. Cost: a pass
/// over the text; where something begins alike, a comparison with a dozen forms. `secret` is not
/// empty.
std::string without_secret(std::string_view text, std::string_view secret);
/// The same for each of them that is long enough to be one, and not a word of any text.
std::string without_secrets(std::string text, std::span<const std::string_view> secrets);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/secrets.ipp>
#endif
