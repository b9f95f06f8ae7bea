#pragma once

#include <dataflux/codec/timestamp.hpp>

#include <cstddef>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::codec {

inline constexpr std::int64_t nanos_per_second = 1'000'000'000;

/// Takes text from the front, piece by piece; once a piece does not fit, all later ones fail too.
class time_reader {
 public:
  explicit time_reader(std::string_view text) noexcept
      : at_(text.data()), end_(text.data() + text.size()) {}

  /// Exactly `Digits` decimal digits with a value within [low, high].
  template <int Digits>
  int number(int low, int high) noexcept {
    if (end_ - at_ < Digits) return fail();
    int value = 0;
    bool good = true;
    for (int i = 0; i < Digits; ++i) {
      good = good && is_digit(at_[i]);
      value = value * 10 + (at_[i] - '0');
    }
    if (!good || value < low || value > high) return fail();
    at_ += Digits;
    return value;
  }
  /// One character, of two that are as good; gives it, or 0.
  char one_of(char wanted, char other) noexcept {
    if (at_ != end_ && (*at_ == wanted || *at_ == other)) return *at_++;
    fail();
    return '\0';
  }
  char one_of(char wanted) noexcept { return one_of(wanted, wanted); }
  /// 'Z' in either case, '+' or '-', or 0.
  char zone() noexcept {
    if (at_ != end_ && (*at_ == '+' || *at_ == '-')) return *at_++;
    return one_of('Z', 'z');
  }
  /// An optional '.' with one to nine digits, in nanoseconds.
  std::int64_t fraction() noexcept {
    if (at_ == end_ || *at_ != '.') return 0;
    ++at_;
    std::int64_t value = 0;
    std::int64_t scale = nanos_per_second;
    while (at_ != end_ && is_digit(*at_) && scale > 1) {
      value = value * 10 + (*at_++ - '0');
      scale /= 10;
    }
    if (scale == nanos_per_second) return fail();
    return value * scale;
  }
  bool finished() const noexcept { return good_ && at_ == end_; }

 private:
  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
  int fail() noexcept {
    good_ = false;
    at_ = end_;
    return 0;
  }

  const char* at_;
  const char* end_;
  bool good_{true};
};

inline void append_padded(std::string& out, std::int64_t value, std::size_t width) {
  const std::string digits = std::to_string(value);
  if (digits.size() < width) out.append(width - digits.size(), '0');
  out += digits;
}

/// Seconds and a fraction within [0, 1 s) as one count, or the nearest that 64 bits hold.
inline timestamp join_time(std::int64_t seconds, std::int64_t nanos) noexcept {
  const timestamp nearest = seconds < 0 ? timestamp::min() : timestamp::max();
  // Before 1970 the product alone may overflow where the sum does not.
  if (seconds < 0) {
    ++seconds;
    nanos -= nanos_per_second;
  }
  std::int64_t count = 0;
  if (__builtin_mul_overflow(seconds, nanos_per_second, &count)) return nearest;
  if (__builtin_add_overflow(count, nanos, &count)) return nearest;
  return timestamp{std::chrono::nanoseconds{count}};
}

}  // namespace detail::codec

DATAFLUX_INLINE std::optional<timestamp> parse_timestamp(std::string_view text) {
  namespace chrono = std::chrono;
  detail::codec::time_reader in{text};
  const int year = in.number<4>(0, 9999);
  in.one_of('-');
  const int month = in.number<2>(1, 12);
  in.one_of('-');
  const int day = in.number<2>(1, 31);
  in.one_of('T', 't');
  const int hour = in.number<2>(0, 23);
  in.one_of(':');
  const int minute = in.number<2>(0, 59);
  in.one_of(':');
  const int second = in.number<2>(0, 60);
  const std::int64_t nanos = in.fraction();
  int offset_minutes = 0;
  const char zone = in.zone();
  if (zone == '+' || zone == '-') {
    offset_minutes = in.number<2>(0, 23) * 60;
    in.one_of(':');
    offset_minutes += in.number<2>(0, 59);
    if (zone == '-') offset_minutes = -offset_minutes;
  }
  if (!in.finished()) return std::nullopt;

  const chrono::year_month_day date{chrono::year{year}, chrono::month{static_cast<unsigned>(month)},
                                    chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = chrono::sys_days{date}.time_since_epoch().count();
  const std::int64_t minutes = days * 1440 + std::int64_t{hour} * 60 + minute - offset_minutes;
  if (second == 60 && (minutes % 1440 + 1440) % 1440 != 1439) return std::nullopt;
  return detail::codec::join_time(minutes * 60 + second, nanos);
}

DATAFLUX_INLINE std::string to_string(timestamp time) {
  namespace chrono = std::chrono;
  const auto day = chrono::floor<chrono::days>(time);
  const auto seconds = chrono::floor<chrono::seconds>(time);
  const chrono::year_month_day date{day};
  const chrono::hh_mm_ss of_day{seconds - day};
  // Not `time - seconds`: near the lower end the seconds do not fit into nanoseconds.
  std::int64_t nanos = time.time_since_epoch().count() % detail::codec::nanos_per_second;
  if (nanos < 0) nanos += detail::codec::nanos_per_second;

  std::string out;
  out.reserve(30);
  detail::codec::append_padded(out, static_cast<int>(date.year()), 4);
  out += '-';
  detail::codec::append_padded(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  detail::codec::append_padded(out, static_cast<unsigned>(date.day()), 2);
  out += 'T';
  detail::codec::append_padded(out, of_day.hours().count(), 2);
  out += ':';
  detail::codec::append_padded(out, of_day.minutes().count(), 2);
  out += ':';
  detail::codec::append_padded(out, of_day.seconds().count(), 2);
  if (nanos != 0) {
    std::size_t width = 9;
    for (; nanos % 1000 == 0; nanos /= 1000) width -= 3;
    out += '.';
    detail::codec::append_padded(out, nanos, width);
  }
  out += 'Z';
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI
