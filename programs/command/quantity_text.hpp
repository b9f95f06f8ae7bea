#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Quantities with their units, as people write and read them. Pure.
namespace cli {

/// "512", "100KiB", "1.5 MB", "150M": bytes. K, M, G, T and P are powers of 1000, and so they are
/// with a B; Ki to Pi are powers of 1024. Nothing for any other text, or a number below 0.
std::optional<double> parse_bytes(std::string_view text) noexcept;

/// Bytes a second: as parse_bytes(), with "/s" behind it or without; or bits: "10Gbit/s".
std::optional<double> parse_rate(std::string_view text) noexcept;

/// "20ms", "1.5s", "300us", "40ns", "2m", "1h": seconds. Nothing without a unit, but for 0.
std::optional<double> parse_seconds(std::string_view text) noexcept;

/// "512 bytes", "1.5 MiB", "9.31 TiB": three digits.
std::string bytes_text(double bytes);
/// "200 MB/s".
std::string rate_text(double bytes_per_second);
/// "42 ms", "3.2 s", "14 min 5 s", "3 h 20 min", "2 d 4 h".
std::string seconds_text(double seconds);

}  // namespace cli
