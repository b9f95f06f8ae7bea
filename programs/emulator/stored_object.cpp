#include <emulator/digest.hpp>
#include <emulator/service_error.hpp>
#include <emulator/stored_object.hpp>

#include <array>
#include <cstdio>
#include <ctime>

namespace emulator {
namespace {

service_error unreadable(const stored_object& object) {
  return {500, "internalError", "InternalError",
          "The seeded file of " + object.name + " changed or cannot be read"};
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  out += static_cast<char>(value);
}

std::tm utc(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return parts;
}

}  // namespace

std::uint32_t stored_object::crc32c() const {
  std::call_once(digests_->crc32c_once, [this] {
    const auto crc = emulator::crc32c(data);
    if (!crc) throw unreadable(*this);
    digests_->crc32c = *crc;
  });
  return digests_->crc32c;
}

const std::string& stored_object::md5() const {
  std::call_once(digests_->md5_once, [this] {
    auto digest = emulator::md5(data);
    if (!digest) throw unreadable(*this);
    digests_->md5 = std::move(*digest);
  });
  return digests_->md5;
}

std::string stored_object::etag() const {
  std::string raw = "\x08";
  append_varint(raw, static_cast<std::uint64_t>(generation));
  raw += '\x10';
  append_varint(raw, static_cast<std::uint64_t>(metageneration));
  return base64_encode(raw);
}

std::string rfc3339(std::chrono::system_clock::time_point time) {
  const std::tm t = utc(time);
  const auto since = time.time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since).count() % 1000;
  std::array<char, 80> out{};
  std::snprintf(out.data(), out.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.tm_year + 1900,
                t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, static_cast<int>(ms));
  return out.data();
}

std::string http_date(std::chrono::system_clock::time_point time) {
  static constexpr std::array<const char*, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::tm t = utc(time);
  std::array<char, 80> out{};
  std::snprintf(out.data(), out.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                days.at(static_cast<std::size_t>(t.tm_wday)), t.tm_mday,
                months.at(static_cast<std::size_t>(t.tm_mon)), t.tm_year + 1900, t.tm_hour,
                t.tm_min, t.tm_sec);
  return out.data();
}

std::optional<std::chrono::system_clock::time_point> parse_http_date(std::string_view text) {
  std::tm parts{};
  const std::string whole{text};
  const char* const end = ::strptime(whole.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

std::optional<std::chrono::system_clock::time_point> parse_time(std::string_view text) {
  constexpr std::int64_t most = 9'000'000'000;  // of the year 2255
  const auto parsed = parse_timestamp(text);
  if (!parsed || parsed->first > most || parsed->first < -most) return std::nullopt;
  return std::chrono::system_clock::time_point{std::chrono::seconds(parsed->first) +
                                               std::chrono::nanoseconds(parsed->second)};
}

std::optional<std::pair<std::int64_t, std::int64_t>> parse_timestamp(std::string_view text) {
  std::tm parts{};
  const std::string whole{text};
  const char* at = ::strptime(whole.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (at == nullptr) return std::nullopt;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::int64_t nanos = 0;
  if (*at == '.') {
    ++at;
    if (!digit(*at)) return std::nullopt;
    for (std::int64_t unit = 100'000'000; digit(*at); ++at, unit /= 10) nanos += (*at - '0') * unit;
  }
  std::int64_t offset = 0;
  int hours = 0;
  int minutes = 0;
  int used = 0;
  if (*at == '+' || *at == '-') {
    if (std::sscanf(at + 1, "%2d:%2d%n", &hours, &minutes, &used) != 2 || at[1 + used] != '\0') {
      return std::nullopt;
    }
    offset = (hours * 60 + minutes) * (*at == '+' ? 60 : -60);
  } else if (std::string_view{at} != "Z") {
    return std::nullopt;
  }
  return std::pair{std::int64_t{::timegm(&parts)} - offset, nanos};
}

}  // namespace emulator
