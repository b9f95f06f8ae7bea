#include <emulator/digest.hpp>

#include <isa-l/crc.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace emulator {
namespace {

constexpr std::string_view standard_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view url_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode(std::string_view bytes, std::string_view alphabet, bool padded) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = (group << 8) | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      if (k <= n) {
        out += alphabet[(group >> (18 - 6 * k)) & 63];
      } else if (padded) {
        out += '=';
      }
    }
  }
  return out;
}

std::optional<std::string> decode(std::string_view text, std::string_view alphabet) {
  std::string out;
  std::uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t value = alphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    group = (group << 6) | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>((group >> bits) & 0xff);
    }
  }
  if (bits >= 6 || (group & ((1U << bits) - 1)) != 0) return std::nullopt;
  return out;
}

/// Calls `use` with every chunk; false when the bytes ended early.
template <typename Use>
bool for_each_chunk(const content& body, Use use) {
  std::vector<std::byte> scratch;
  std::uint64_t done = 0;
  while (done < body.size()) {
    const auto chunk = body.read(done, std::size_t{1} << 20, scratch);
    if (chunk.empty()) return false;
    use(chunk);
    done += chunk.size();
  }
  return true;
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  // isa-l takes an int for the length, does no inversion, and its source pointer is not const.
  constexpr std::size_t step = std::size_t{1} << 30;
  std::uint32_t state = ~before;
  while (!bytes.empty()) {
    const std::size_t n = std::min(step, bytes.size());
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    state = crc32_iscsi(data, static_cast<int>(n), state);
    bytes = bytes.subspan(n);
  }
  return ~state;
}

std::optional<std::uint32_t> crc32c(const content& body) {
  std::uint32_t crc = 0;
  const bool whole = for_each_chunk(body, [&crc](auto chunk) { crc = crc32c(chunk, crc); });
  if (!whole) return std::nullopt;
  return crc;
}

std::optional<std::string> md5(const content& body) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free};
  EVP_DigestInit_ex(context.get(), EVP_md5(), nullptr);
  const bool whole = for_each_chunk(body, [&context](auto chunk) {
    EVP_DigestUpdate(context.get(), chunk.data(), chunk.size());
  });
  if (!whole) return std::nullopt;
  std::array<unsigned char, 16> out{};
  EVP_DigestFinal_ex(context.get(), out.data(), nullptr);
  return std::string{reinterpret_cast<const char*>(out.data()), out.size()};
}

std::string md5(std::string_view bytes) { return *md5(content{std::string{bytes}}); }

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, 32> out{};
  EVP_Digest(bytes.data(), bytes.size(), out.data(), nullptr, EVP_sha256(), nullptr);
  return {reinterpret_cast<const char*>(out.data()), out.size()};
}

std::string crc32c_text(std::uint32_t crc) {
  std::string raw;
  for (int shift = 24; shift >= 0; shift -= 8) raw += static_cast<char>((crc >> shift) & 0xff);
  return base64_encode(raw);
}

std::string base64_encode(std::string_view bytes) { return encode(bytes, standard_alphabet, true); }
std::string base64url_encode(std::string_view bytes) { return encode(bytes, url_alphabet, false); }

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return decode(text, standard_alphabet);
}
std::optional<std::string> base64url_decode(std::string_view text) {
  return decode(text, url_alphabet);
}

std::string hex_encode(std::string_view bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

std::optional<std::string> hex_decode(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  if (text.size() % 2 != 0) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), out.data(), &size);
  return {reinterpret_cast<const char*>(out.data()), size};
}

}  // namespace emulator
