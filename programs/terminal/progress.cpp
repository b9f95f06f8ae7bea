#include "progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace {

struct unit {
  double bytes;
  const char* name;
};

unit unit_for(std::uint64_t most) {
  constexpr unit units[]{{1099511627776.0, "TiB"}, {1073741824.0, "GiB"}};
  for (const auto& one : units) {
    if (static_cast<double>(most) >= 10 * one.bytes) return one;
  }
  return {1048576.0, "MiB"};
}

template <class... Values>
std::string text_of(const char* format, Values... values) {
  char text[96];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

/// "3", or "3/10".
std::string count_of(std::uint64_t done, std::uint64_t all) {
  const std::string count = std::to_string(done);
  return all == 0 ? count : count + '/' + std::to_string(all);
}

std::string size_of(std::uint64_t done, std::uint64_t all) {
  const unit in = unit_for(std::max(done, all));
  const double bytes = static_cast<double>(done) / in.bytes;
  if (all == 0) return text_of("%.1f %s", bytes, in.name);
  return text_of("%.1f/%.1f %s", bytes, static_cast<double>(all) / in.bytes, in.name);
}

std::string bar_of(double done, std::size_t columns) {
  const auto filled = static_cast<std::size_t>(done * static_cast<double>(columns));
  return "[" + std::string(filled, '#') + std::string(columns - filled, '.') + "]";
}

/// The end of a name, which tells more than its beginning, without half a character in front. No
/// character takes more columns than it has bytes.
std::string end_of(std::string_view name, std::size_t columns) {
  std::string text;
  if (name.size() > columns) {
    name.remove_prefix(name.size() - columns + 3);
    while (!name.empty() && (static_cast<unsigned char>(name[0]) & 0xC0U) == 0x80U) {
      name.remove_prefix(1);
    }
    text = "...";
  }
  for (const char c : name) {
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return text;
}

/// Fields in the order of the line, each taken only if it fits beside those that were taken before.
class fields {
 public:
  fields(std::string_view phase, std::size_t columns)
      : phase_(phase.substr(0, columns)), left_(columns - phase_.size()) {}

  std::size_t room() const noexcept { return left_ < gap ? 0 : left_ - gap; }
  void take(std::size_t place, std::string text) {
    if (text.empty() || text.size() > room()) return;
    left_ -= text.size() + gap;
    texts_[place] = std::move(text);
  }
  std::string line() const {
    std::string all = phase_;
    for (const auto& text : texts_) {
      if (!text.empty()) all.append(gap, ' ').append(text);
    }
    return all;
  }

 private:
  static constexpr std::size_t gap = 2;
  const std::string phase_;
  std::size_t left_;
  std::array<std::string, 7> texts_{};
};

/// What a terminal that does not say has.
constexpr std::size_t usual_columns = 80;

std::size_t columns_of_terminal() {
  ::winsize size{};
  const bool told = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return told ? size.ws_col : usual_columns;
}

}  // namespace

std::string progress_line(std::string_view phase, const progress_state& state,
                          std::size_t columns) {
  constexpr std::size_t shortest_bar = 10;
  constexpr std::size_t longest_bar = 30;
  constexpr std::size_t shortest_name = 12;
  constexpr double least_speed = 1024;  // below it nobody knows when it ends
  enum place : std::size_t { bar, objects, bytes, wire, rate, left, last };
  const bool counted = state.all_objects > 1 || (state.all_objects == 0 && state.objects > 0) ||
                       (state.bytes == 0 && state.all_bytes == 0);
  const bool sized = state.bytes > 0 || state.all_bytes > 0;
  const auto moved = static_cast<double>(state.wire_bytes.value_or(state.bytes));
  const double speed = moved / std::max(state.seconds, 1e-3);
  fields out(phase, columns);
  if (sized) out.take(bytes, size_of(state.bytes, state.all_bytes));
  if (counted) out.take(objects, count_of(state.objects, state.all_objects) + " objects");
  if (state.all_bytes > state.bytes && speed >= least_speed) {
    const double rest = static_cast<double>(state.all_bytes - state.bytes) / speed;
    const auto seconds = static_cast<unsigned long long>(std::ceil(rest));
    out.take(left, text_of("%llu:%02llu left", seconds / 60, seconds % 60));
  }
  if (sized) out.take(rate, text_of("%.1f MiB/s", speed / 1048576));
  if (sized && state.wire_bytes) out.take(wire, "wire " + size_of(*state.wire_bytes, 0));
  if (state.all_bytes > 0 && out.room() >= shortest_bar + 2) {
    const double done = static_cast<double>(state.bytes) / static_cast<double>(state.all_bytes);
    // What a name has room beside.
    const std::size_t most = std::clamp(out.room() / 2, shortest_bar, longest_bar);
    out.take(bar, bar_of(std::min(1.0, done), most));
  }
  if (out.room() >= shortest_name) out.take(last, end_of(state.last, out.room()));
  return out.line();
}

void print_line(std::string_view line) {
  // In one call each, here and in draw(), so that the two do not mix.
  const char* const start = ::isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "";
  std::fputs((start + std::string(line) + '\n').c_str(), stderr);
}

progress::progress(std::string phase, std::uint64_t total_bytes, meter wire)
    : phase_(std::move(phase)),
      wire_(std::move(wire)),
      wire_before_(wire_ ? wire_() : 0),
      visible_(::isatty(STDERR_FILENO) == 1),
      all_bytes_(total_bytes) {
  if (!visible_) return;
  drawer_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, std::chrono::milliseconds(250), [this] { return end_; })) draw();
  });
}

progress::~progress() {
  if (!visible_) return;
  {
    std::scoped_lock lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  drawer_.join();
  std::fputs("\r\033[K", stderr);
}

double progress::seconds() const noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

void progress::finished(std::string_view name) {
  if (!visible_) return;
  std::scoped_lock lock(name_mutex_);
  last_ = name;
}

void progress::draw() const {
  progress_state now{.objects = objects_.load(std::memory_order_relaxed),
                     .all_objects = all_objects_.load(std::memory_order_relaxed),
                     .bytes = bytes_.load(std::memory_order_relaxed),
                     .all_bytes = all_bytes_.load(std::memory_order_relaxed),
                     .seconds = seconds()};
  if (wire_) now.wire_bytes = wire_() - wire_before_;
  std::string last;
  {
    std::scoped_lock lock(name_mutex_);
    last = last_;
  }
  now.last = last;
  // Terminals wrap a line that fills their last column.
  const std::string line = progress_line(phase_, now, columns_of_terminal() - 1);
  std::fputs(("\r\033[K" + line).c_str(), stderr);
}
