#pragma once

#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/codec/detail/secrets.hpp>
#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/detail/text.hpp>

#include <algorithm>
#include <bitset>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

using detail::to_lower;

/// A byte as a text shows it.
struct shown_byte {
  char value{0};
  std::size_t length{0};  ///< of its escape; 0 = there is none
};

/// The escape at the front: of a URL, however often the '%' was escaped itself, of JSON, or of XML.
inline shown_byte escaped_byte(std::string_view text) noexcept {
  constexpr std::size_t longest = 20;
  text = text.substr(0, longest);
  const auto by_digits = [text](std::size_t from, int base, std::size_t most) {
    unsigned value = 0;
    std::size_t at = from;
    for (; at < text.size() && at - from < most; ++at) {
      const int digit = hex_value(text[at]);
      if (digit < 0 || digit >= base) break;
      value = value * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
    }
    return at == from || value > 0xff ? shown_byte{} : shown_byte{static_cast<char>(value), at};
  };
  if (text.starts_with('%')) {
    std::size_t at = 1;
    while (text.substr(at, 2) == "25") at += 2;
    const shown_byte byte = by_digits(at, 16, 2);
    if (byte.length == at + 2) return byte;
    return at == 1 ? shown_byte{} : shown_byte{'%', at};
  }
  if (text.starts_with("\\u")) {
    const shown_byte byte = by_digits(2, 16, 4);
    return byte.length == 6 ? byte : shown_byte{};
  }
  if (!text.starts_with("&#")) return {};
  const bool hex = text.size() > 2 && (text[2] | 0x20) == 'x';
  shown_byte byte = by_digits(hex ? 3 : 2, hex ? 16 : 10, 7);
  if (byte.length == 0 || byte.length == text.size() || text[byte.length] != ';') return {};
  ++byte.length;
  return byte;
}

/// How many bytes at the front of `text` are `plain` in any case of letters, each of its bytes as
/// it is or escaped, lines broken anywhere in it; 0 if it begins otherwise.
inline std::size_t length_of_secret(std::string_view text, std::string_view plain) noexcept {
  constexpr std::size_t longest_break = 4;
  std::size_t at = 0;
  for (const char wanted : plain) {
    const auto same = [wanted](char c) { return to_lower(c) == to_lower(wanted); };
    std::size_t next = at;
    if (next < text.size() && !same(text[next]) && at != 0) {
      const std::string_view blanks = text.substr(next, longest_break);
      next += std::min(blanks.find_first_not_of(" \t\r\n"), blanks.size());
    }
    if (next == text.size()) return 0;
    const shown_byte byte = same(text[next]) ? shown_byte{} : escaped_byte(text.substr(next));
    if (!same(byte.length == 0 ? text[next] : byte.value)) return 0;
    at = next + std::max<std::size_t>(byte.length, 1);
  }
  return at;
}

/// What Base64 makes of those bytes wherever they stand among others, as far as it is made of them
/// alone; `before` of the bytes in front share three of them with it.
inline std::string base64_of(std::string_view bytes, std::size_t before) {
  const std::string all = encode_base64(as_bytes(std::string(before, 0).append(bytes)));
  const std::size_t first = (before * 8 + 5) / 6;
  return all.substr(first, (before + bytes.size()) * 8 / 6 - first);
}

/// The secret, and with its escapes of a URL decoded: that is the last one, and the shortest.
inline std::vector<std::string> plain_forms(std::string_view secret) {
  std::vector<std::string> forms{std::string(secret)};
  if (auto plain = decode_percent(secret); plain && *plain != secret) {
    forms.push_back(*std::move(plain));
  }
  return forms;
}

/// Behind them every other text that tells the secret.
inline void add_encoded(std::vector<std::string>& forms) {
  for (std::size_t i = 0, texts = forms.size(); i < texts; ++i) {
    const std::string text = forms[i];
    std::string& hex = forms.emplace_back();
    for (const char c : text) append_hex(hex, static_cast<unsigned char>(c), 2);
    for (const std::size_t before : {0U, 1U, 2U}) {
      std::string url = forms.emplace_back(base64_of(text, before));
      for (char& c : url) c = c == '+' ? '-' : c == '/' ? '_' : c;
      if (url != forms.back()) forms.push_back(std::move(url));
    }
  }
}

DATAFLUX_INLINE std::string without_secret(std::string_view text, std::string_view secret) {
  std::vector<std::string> forms = plain_forms(secret);
  // Most of what errors say is shorter than a token, and no form is shorter than the last of these.
  if (text.size() < forms.back().size()) return std::string(text);
  add_encoded(forms);
  std::bitset<256> begins;  // of a form, or of an escape
  const auto note = [&begins](char c) { begins.set(static_cast<unsigned char>(c)); };
  for (const char c : std::string_view{"%&\\"}) note(c);
  for (const std::string& form : forms) {
    if (!form.empty()) note(to_lower(form.front()));
  }
  std::string out;
  while (!text.empty()) {
    std::size_t length = 0;
    if (begins.test(static_cast<unsigned char>(to_lower(text.front())))) {
      for (const std::string& form : forms) {
        length = std::max(length, length_of_secret(text, form));
      }
    }
    length == 0 ? out.append(text.substr(0, 1)) : out.append("[removed]");
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

DATAFLUX_INLINE std::string without_secrets(std::string text,
                                            std::span<const std::string_view> secrets) {
  constexpr std::size_t shortest = 8;
  for (const std::string_view secret : secrets) {
    if (secret.size() >= shortest) text = without_secret(text, secret);
  }
  return text;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
