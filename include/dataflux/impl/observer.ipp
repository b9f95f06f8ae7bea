#pragma once

#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/observer.hpp>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <type_traits>

#include <unistd.h>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE counters::counters(const counters& other) noexcept { *this = other; }

DATAFLUX_INLINE counters& counters::operator=(const counters& other) noexcept {
  if (this == &other) return *this;
  for (const auto member :
       {&counters::requests_a, &counters::requests_b, &counters::requests_free, &counters::retries,
        &counters::paced, &counters::bytes_sent, &counters::bytes_received, &counters::failed}) {
    (this->*member)
        .store((other.*member).load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  return *this;
}

namespace detail {

inline constexpr std::array<std::string_view, 4> log_level_names{"debug", "info", "warning",
                                                                 "error"};

/// One line, put together without an allocation and cut where it is full.
class log_line {
 public:
  explicit log_line(log_level level) noexcept {
    add_time();
    *this << " " << log_level_names[static_cast<std::size_t>(level) % log_level_names.size()]
          << " ";
  }

  log_line& operator<<(std::string_view text) noexcept {
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (size_ + 5 > text_.size()) break;  // an escape, and the line's end
      if (byte >= 0x20 && byte != 0x7f) {
        text_[size_++] = c;
        continue;
      }
      for (const char e : {'\\', 'x', hex_digits[byte >> 4U], hex_digits[byte & 15U]})
        text_[size_++] = e;
    }
    return *this;
  }
  template <class Number>
  requires std::is_integral_v<Number> log_line& operator<<(Number number) noexcept {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  log_line& add_object(std::string_view scheme, std::string_view bucket,
                       std::string_view object) noexcept {
    if (bucket.empty()) return *this;
    *this << " " << scheme << "://" << bucket;
    if (!object.empty()) *this << "/" << object;
    return *this;
  }

  void write(int descriptor) noexcept {
    text_[size_++] = '\n';
    for (std::size_t done = 0; done < size_;) {
      const ssize_t wrote = ::write(descriptor, text_.data() + done, size_ - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) return;
      done += static_cast<std::size_t>(wrote);
    }
  }

 private:
  void add_padded(std::int64_t number, int width) noexcept {
    for (std::int64_t least = 10; --width > 0; least *= 10) {
      if (number < least) *this << "0";
    }
    *this << number;
  }
  /// UTC, in milliseconds.
  void add_time() noexcept {
    namespace chrono = std::chrono;
    const auto now = chrono::floor<chrono::milliseconds>(chrono::system_clock::now());
    const auto day = chrono::floor<chrono::days>(now);
    const chrono::year_month_day date{day};
    const chrono::hh_mm_ss time{now - day};
    add_padded(static_cast<int>(date.year()), 4);
    *this << "-";
    add_padded(static_cast<unsigned>(date.month()), 2);
    *this << "-";
    add_padded(static_cast<unsigned>(date.day()), 2);
    *this << "T";
    add_padded(time.hours().count(), 2);
    *this << ":";
    add_padded(time.minutes().count(), 2);
    *this << ":";
    add_padded(time.seconds().count(), 2);
    *this << ".";
    add_padded(time.subseconds().count(), 3);
    *this << "Z";
  }

  std::array<char, 4096> text_;
  std::size_t size_{0};
};

inline std::int64_t milliseconds_of(duration time) noexcept {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

}  // namespace detail

DATAFLUX_INLINE log_observer::log_observer(int descriptor) noexcept : descriptor_(descriptor) {
  const char* const variable = std::getenv("DATAFLUX_LOG");
  const std::string_view wanted = variable == nullptr ? "" : variable;
  if (wanted.empty()) return;
  for (std::size_t i = 0; i < detail::log_level_names.size(); ++i) {
    if (wanted != detail::log_level_names[i]) continue;
    least_ = static_cast<log_level>(i);
    return;
  }
  if (wanted == "off") {
    least_.reset();
    return;
  }
  (detail::log_line(log_level::warning)
   << "DATAFLUX_LOG=" << wanted << " is no level: use debug, info, warning, error or off")
      .write(descriptor_);
}

DATAFLUX_INLINE void log_observer::on_log(log_level level, std::string_view line) noexcept {
  if (shows(level)) (detail::log_line(level) << line).write(descriptor_);
}

DATAFLUX_INLINE void log_observer::on_request(const request_event& event) noexcept {
  if (!shows(log_level::debug)) return;
  detail::log_line line(log_level::debug);
  (line << event.verb).add_object(event.scheme, event.bucket, event.object)
      << " attempt " << event.attempt;
  if (event.http_status != 0) {
    line << ": HTTP " << event.http_status;
  } else {
    line << ": no reply";
  }
  line << ", " << event.bytes_sent << " bytes sent, " << event.bytes_received << " received";
  if (event.started != never && event.finished != never) {
    line << ", " << detail::milliseconds_of(event.finished - event.started) << " ms";
  }
  line.write(descriptor_);
}

DATAFLUX_INLINE void log_observer::on_retry(const retry_event& event) noexcept {
  if (!shows(log_level::warning)) return;
  detail::log_line line(log_level::warning);
  (line << event.verb).add_object(event.scheme, event.bucket, event.object)
      << " attempt " << event.attempt << " failed, the next one in "
      << detail::milliseconds_of(event.delay) << " ms";
  if (event.cause != nullptr) {
    line << ": " << to_string(event.cause->code());
    if (event.cause->http_status() != 0) line << ", HTTP " << event.cause->http_status();
    if (!event.cause->reason().empty()) line << ", " << event.cause->reason();
    line << ": " << event.cause->message();
  }
  line.write(descriptor_);
}

DATAFLUX_INLINE void log_observer::on_list(const list_event& event) noexcept {
  if (!shows(log_level::info)) return;
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t now = std::chrono::nanoseconds(clock::now().time_since_epoch()).count();
  std::int64_t last = last_list_.load(std::memory_order_relaxed);
  if (last != 0 && now - last < second) return;
  if (!last_list_.compare_exchange_strong(last, now, std::memory_order_relaxed)) return;
  detail::log_line line(log_level::info);
  (line << "listing").add_object(event.scheme, event.bucket, event.prefix)
      << ": " << event.objects << " objects, " << event.listed << " of about " << event.expected
      << " entries, " << event.calls << " calls, " << event.calls_in_flight << " in flight";
  line.write(descriptor_);
}

}  // namespace dataflux::inline DATAFLUX_ABI
