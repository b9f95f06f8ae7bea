#pragma once

#include <dataflux/codec/detail/base64.hpp>

#include <openssl/evp.h>

#include <algorithm>
#include <cstddef>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// OpenSSL counts in int: longer inputs go in pieces of whole quanta.
inline constexpr std::size_t base64_piece = std::size_t{3} << 28;

inline const unsigned char* as_octets(const void* data) noexcept {
  return static_cast<const unsigned char*>(data);
}

/// Appends the standard form. EVP_EncodeBlock writes a NUL behind each piece, which the next piece
/// or the string's own terminator overwrites.
inline void append_base64(std::string& out, const void* data, std::size_t size) {
  std::size_t at = out.size();
  out.resize(at + (size + 2) / 3 * 4);
  const unsigned char* from = as_octets(data);
  while (size > 0) {
    const std::size_t piece = std::min(size, base64_piece);
    auto* to = static_cast<unsigned char*>(static_cast<void*>(out.data() + at));
    at += static_cast<std::size_t>(EVP_EncodeBlock(to, from, static_cast<int>(piece)));
    from += piece;
    size -= piece;
  }
}

DATAFLUX_INLINE std::string encode_base64(bytes_view bytes) {
  std::string out;
  append_base64(out, bytes.data(), bytes.size());
  return out;
}

DATAFLUX_INLINE std::string encode_base64url(bytes_view bytes) {
  std::string out = encode_base64(bytes);
  while (!out.empty() && out.back() == '=') out.pop_back();
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

DATAFLUX_INLINE std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;

  std::string out(text.size() / 4 * 3, '\0');
  std::size_t at = 0;
  constexpr std::size_t text_piece = base64_piece / 3 * 4;
  for (std::size_t from = 0; from < text.size(); from += text_piece) {
    const std::size_t piece = std::min(text.size() - from, text_piece);
    auto* to = static_cast<unsigned char*>(static_cast<void*>(out.data() + at));
    const int n = EVP_DecodeBlock(to, as_octets(text.data() + from), static_cast<int>(piece));
    if (n < 0) return std::nullopt;
    at += piece / 4 * 3;
  }
  out.resize(out.size() - padding);

  // EVP_DecodeBlock lets white space, wrong padding and spare bits pass. A text is canonical
  // exactly if its bytes encode to it again.
  std::string again;
  append_base64(again, out.data(), out.size());
  if (again != text) return std::nullopt;
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
