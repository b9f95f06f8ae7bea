#include "quantity_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <system_error>

namespace cli {

namespace quantity {

namespace {

struct unit {
  std::string_view name;
  double value;
};

constexpr double kibi = 1024;
constexpr unit of_bytes[]{
    {"", 1},
    {"B", 1},
    {"K", 1e3},
    {"KB", 1e3},
    {"kB", 1e3},
    {"M", 1e6},
    {"MB", 1e6},
    {"G", 1e9},
    {"GB", 1e9},
    {"T", 1e12},
    {"TB", 1e12},
    {"P", 1e15},
    {"PB", 1e15},
    {"Ki", kibi},
    {"KiB", kibi},
    {"Mi", kibi* kibi},
    {"MiB", kibi* kibi},
    {"Gi", kibi* kibi* kibi},
    {"GiB", kibi* kibi* kibi},
    {"Ti", kibi* kibi* kibi* kibi},
    {"TiB", kibi* kibi* kibi* kibi},
    {"Pi", kibi* kibi* kibi* kibi* kibi},
    {"PiB", kibi* kibi* kibi* kibi* kibi},
};
constexpr unit of_bits[]{
    {"bit", 0.125}, {"kbit", 125}, {"Kbit", 125}, {"Mbit", 125e3}, {"Gbit", 125e6}, {"Tbit", 125e9},
};
constexpr unit of_seconds[]{
    {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600},
};

template <class Units>
std::optional<double> value_of(std::string_view text, const Units& units) noexcept {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || !(number >= 0) || !std::isfinite(number)) return std::nullopt;
  std::string_view rest(read.ptr, static_cast<std::size_t>(text.data() + text.size() - read.ptr));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  for (const unit& each : units) {
    if (each.name == rest) return number * each.value;
  }
  return std::nullopt;
}

std::string three_digits(double number, std::string_view name) {
  std::array<char, 64> text{};
  const int digits = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  const int size = std::snprintf(text.data(), text.size(), "%.*f ", digits, number);
  return std::string(text.data(), static_cast<std::size_t>(size)).append(name);
}

std::string two_units(double larger, const char* name, double smaller, const char* other) {
  std::array<char, 64> text{};
  const int size = smaller > 0 ? std::snprintf(text.data(), text.size(), "%.0f %s %.0f %s", larger,
                                               name, smaller, other)
                               : std::snprintf(text.data(), text.size(), "%.0f %s", larger, name);
  return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace

}  // namespace quantity

std::optional<double> parse_bytes(std::string_view text) noexcept {
  return quantity::value_of(text, quantity::of_bytes);
}

std::optional<double> parse_rate(std::string_view text) noexcept {
  if (text.ends_with("/s")) text.remove_suffix(2);
  const auto bits = quantity::value_of(text, quantity::of_bits);
  return bits ? bits : parse_bytes(text);
}

std::optional<double> parse_seconds(std::string_view text) noexcept {
  if (text == "0") return 0;
  return quantity::value_of(text, quantity::of_seconds);
}

std::string bytes_text(double bytes) {
  static constexpr std::array<const char*, 6> names{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t i = 0;
  for (; bytes >= 999.5 && i + 1 < names.size(); ++i) bytes /= quantity::kibi;
  if (i > 0) return quantity::three_digits(bytes, names.at(i));
  return quantity::two_units(bytes, names[0], 0, "");
}

std::string rate_text(double bytes_per_second) {
  static constexpr std::array<const char*, 5> names{"bytes/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  std::size_t i = 0;
  for (; bytes_per_second >= 999.5 && i + 1 < names.size(); ++i) bytes_per_second /= 1000;
  return quantity::three_digits(bytes_per_second, names.at(i));
}

std::string seconds_text(double seconds) {
  if (seconds < 0.9995) return quantity::three_digits(seconds * 1e3, "ms");
  if (seconds < 59.95) return quantity::three_digits(seconds, "s");
  const double whole = std::round(seconds);
  const double minutes = std::round(seconds / 60);
  const double hours = std::round(seconds / 3600);
  if (whole < 3600) {
    return quantity::two_units(std::floor(whole / 60), "min", std::fmod(whole, 60), "s");
  }
  if (minutes < 24 * 60) {
    return quantity::two_units(std::floor(minutes / 60), "h", std::fmod(minutes, 60), "min");
  }
  return quantity::two_units(std::floor(hours / 24), "d", std::fmod(hours, 24), "h");
}

}  // namespace cli
