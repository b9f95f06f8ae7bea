#pragma once

#include <emulator/content.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace emulator {

/// CRC32C of `bytes` that follow bytes whose CRC32C is `before` (0 for none).
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);
/// CRC32C of all bytes; empty when a file's bytes could not be read.
std::optional<std::uint32_t> crc32c(const content& body);

/// MD5 as 16 raw bytes.
std::string md5(std::string_view bytes);
/// MD5 of all bytes; empty when a file's bytes could not be read.
std::optional<std::string> md5(const content& body);

/// SHA-256 as 32 raw bytes.
std::string sha256(std::string_view bytes);
/// HMAC-SHA256 as 32 raw bytes.
std::string hmac_sha256(std::string_view key, std::string_view bytes);

/// The service's text form: 4 bytes big-endian in base64, such as "AAAAAA==" (protocol.md 5.1).
std::string crc32c_text(std::uint32_t crc);

std::string base64_encode(std::string_view bytes);
std::string base64url_encode(std::string_view bytes);
/// Empty optional when the text is not canonical padded base64.
std::optional<std::string> base64_decode(std::string_view text);
/// The URL-safe alphabet without padding.
std::optional<std::string> base64url_decode(std::string_view text);
std::string hex_encode(std::string_view bytes);
/// Empty optional when the text is not hexadecimal, in either case.
std::optional<std::string> hex_decode(std::string_view text);

}  // namespace emulator
