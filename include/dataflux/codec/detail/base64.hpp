#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/config.hpp>

#include <optional>
#include <string>
#include <string_view>

/// Base64 of RFC 4648, both alphabets, over OpenSSL's block coder.
///
/// The service speaks the padded standard form in JSON and headers (md5Hash, customer keys) and the
/// unpadded URL form in signed tokens (RFC 7515). Decoding is strict, because the texts are keys
/// and checksums: white space, characters of the other alphabet, missing or surplus padding, and
/// non-zero bits behind the last byte are all refused, so that every value has exactly one text.
///
/// Pure functions: thread-safe, no state. Cost: one allocation and linear time.
namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// The standard alphabet ("+/"), padded with '=' to a multiple of four characters.
std::string encode_base64(bytes_view bytes);

/// The URL-safe alphabet ("-_"), without padding.
std::string encode_base64url(bytes_view bytes);

/// The bytes (as a string) of a padded standard text; nullopt if it is not exactly such a text.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/base64.ipp>
#endif
