#include <dataflux/observer.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace log_observer_test {

using dataflux::errc;
using dataflux::log_level;
using dataflux::log_observer;

namespace {

/// A pipe that gives back what was written.
class pipe_end {
 public:
  pipe_end() { REQUIRE(::pipe2(ends_, O_NONBLOCK | O_CLOEXEC) == 0); }
  ~pipe_end() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  int writer() const { return ends_[1]; }
  std::string text() {
    std::string all;
    char piece[4096];
    for (ssize_t n = 0; (n = ::read(ends_[0], piece, sizeof piece)) > 0;) {
      all.append(piece, static_cast<std::size_t>(n));
    }
    return all;
  }
  /// Without their times, whose shape is checked.
  std::vector<std::string> lines() {
    std::vector<std::string> all;
    std::string rest = text();
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string::npos;
         rest.erase(0, end + 1)) {
      std::string shape = rest.substr(0, 25);
      std::replace_if(
          shape.begin(), shape.end(), [](char c) { return c >= '0' && c <= '9'; }, '0');
      CHECK(shape == "0000-00-00T00:00:00.000Z ");
      all.push_back(rest.substr(25, end - 25));
    }
    CHECK(rest.empty());
    return all;
  }

 private:
  int ends_[2]{-1, -1};
};
using strings = std::vector<std::string>;

/// Each of its events once.
void tell_all(log_observer& log) {
  const dataflux::error cause = dataflux::error(errc::unavailable, "try later")
                                    .with_http_status(503)
                                    .with_reason("backendError");
  log.on_request({.verb = "objects.get",
                  .bucket = "b",
                  .object = "o",
                  .http_status = 200,
                  .bytes_received = 7,
                  .started = dataflux::time_point{},
                  .finished = dataflux::time_point{} + std::chrono::milliseconds(12)});
  log.on_list(
      {.bucket = "b", .prefix = "p/", .objects = 5, .expected = 9, .listed = 6, .calls = 2});
  log.on_retry({.verb = "objects.get",
                .bucket = "b",
                .object = "o",
                .delay = std::chrono::milliseconds(250),
                .cause = &cause});
  log.on_log(log_level::error, "it is broken");
}
const strings all_lines{
    "debug objects.get gs://b/o attempt 1: HTTP 200, 0 bytes sent, 7 received, 12 ms",
    "info listing gs://b/p/: 5 objects, 6 of about 9 entries, 2 calls, 0 in flight",
    "warning objects.get gs://b/o attempt 1 failed, the next one in 250 ms: unavailable, HTTP 503, "
    "backendError: try later",
    "error it is broken"};

/// DATAFLUX_LOG for the time of a test.
struct variable {
  explicit variable(const char* value) {
    if (value == nullptr) {
      ::unsetenv("DATAFLUX_LOG");
    } else {
      ::setenv("DATAFLUX_LOG", value, 1);
    }
  }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
  ~variable() { ::unsetenv("DATAFLUX_LOG"); }
};

}  // namespace

TEST_CASE("log_observer: each level shows itself and what is above", "[core]") {
  for (std::size_t least = 0; least < all_lines.size(); ++least) {
    pipe_end out;
    log_observer log(static_cast<log_level>(least), out.writer());
    tell_all(log);
    CHECK(out.lines() ==
          strings(all_lines.begin() + static_cast<std::ptrdiff_t>(least), all_lines.end()));
  }
  pipe_end out;
  log_observer off(std::nullopt, out.writer());
  tell_all(off);
  CHECK(out.text().empty());
}

TEST_CASE("log_observer: the variable says the level, or nothing does", "[core]") {
  const std::pair<const char*, std::optional<log_level>> rows[]{
      {nullptr, log_level::warning}, {"", log_level::warning},        {"debug", log_level::debug},
      {"info", log_level::info},     {"warning", log_level::warning}, {"error", log_level::error},
      {"off", std::nullopt}};
  for (const auto& [value, level] : rows) {
    const variable set(value);
    pipe_end out;
    const log_observer log(out.writer());
    CHECK(log.level() == level);
    CHECK(out.text().empty());
  }
  const variable set("verbose");
  pipe_end out;
  const log_observer log(out.writer());
  CHECK(log.level() == log_level::warning);
  CHECK(out.lines() == strings{"warning DATAFLUX_LOG=verbose is no level: use debug, info, "
                               "warning, error or off"});
}

TEST_CASE("log_observer: a line is one line, and of limited length", "[core]") {
  pipe_end out;
  log_observer log(log_level::debug, out.writer());
  log.on_log(log_level::info, "a\nb\x7f\x1b[0m");
  CHECK(out.lines() == strings{"info a\\x0ab\\x7f\\x1b[0m"});
  log.on_log(log_level::info, std::string(10'000, 'x'));
  log.on_log(log_level::info, std::string(10'000, '\n'));
  const auto lines = out.lines();
  REQUIRE(lines.size() == 2);
  for (const auto& line : lines) {
    CHECK(line.size() <= 4095 - 25);
    CHECK(line.size() > 4050);
  }
}

TEST_CASE("log_observer: a listing is told of once a second at most", "[core]") {
  pipe_end out;
  log_observer log(log_level::info, out.writer());
  log.on_list({.bucket = "b", .objects = 1});
  const auto first = out.lines();
  REQUIRE(first.size() == 1);
  CHECK(first[0].starts_with("info listing gs://b: 1 objects"));
}

TEST_CASE("log_observer: threads do not mix their lines, a closed descriptor does no harm",
          "[core]") {
  pipe_end out;
  log_observer log(log_level::info, out.writer());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&log, i] {
      const std::string text(20, static_cast<char>('a' + i));
      for (int n = 0; n < 200; ++n) log.on_log(log_level::info, text);
    });
  }
  for (auto& thread : threads) thread.join();
  const auto lines = out.lines();
  CHECK(lines.size() == 800);
  for (const auto& line : lines) {
    CHECK(line == "info " + std::string(20, line.back()));
  }
  log_observer closed(log_level::info, -1);
  closed.on_log(log_level::error, "lost");
}

}  // namespace log_observer_test
