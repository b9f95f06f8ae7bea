#include <command/age_text.hpp>
#include <command/outcome.hpp>
#include <command/quantity_text.hpp>
#include <command/range_text.hpp>
#include <command/retry_notice.hpp>
#include <command/size_text.hpp>
#include <support/catch.hpp>
#include <terminal/progress.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>

namespace texts_test {

using dataflux::byte_range;
using dataflux::errc;
using dataflux::error;

TEST_CASE("range_text: the three forms and nothing else", "[cli]") {
  CHECK(cli::parse_range("") == byte_range::all());
  CHECK(cli::parse_range("0-0") == byte_range::span(0, 1));
  CHECK(cli::parse_range("5-9") == byte_range::span(5, 5));
  CHECK(cli::parse_range("5-") == byte_range::from(5));
  CHECK(cli::parse_range("-5") == byte_range::last(5));
  CHECK(cli::parse_range("0-9223372036854775806"));
  for (const auto* text : {"-", "5", "a-b", "9-5", "-0", "--5", "1-2-3", "+1-2", " 1-2", "1-2 ",
                           "0x1-2", "18446744073709551616-", "9223372036854775808-"}) {
    INFO(text);
    CHECK_FALSE(cli::parse_range(text));
  }
}

TEST_CASE("age_text: a number and its unit", "[cli]") {
  using std::chrono::seconds;
  CHECK(cli::parse_age("0s") == seconds(0));
  CHECK(cli::parse_age("90s") == seconds(90));
  CHECK(cli::parse_age("30m") == seconds(1800));
  CHECK(cli::parse_age("12h") == seconds(43'200));
  CHECK(cli::parse_age("7d") == seconds(604'800));
  CHECK(cli::parse_age("2w") == seconds(1'209'600));
  for (const auto* text : {"", "d", "7", "-1d", "1.5h", "1h30m", "7 d", " 7d", "7D", "1y",
                           "99999999999999999999s", "9223372036854775807w"}) {
    INFO(text);
    CHECK_FALSE(cli::parse_age(text));
  }
}

TEST_CASE("size_text: a number and its unit", "[cli]") {
  CHECK(cli::parse_size("0") == 0U);
  CHECK(cli::parse_size("512") == 512U);
  CHECK(cli::parse_size("64K") == 65'536U);
  CHECK(cli::parse_size("3g") == std::uint64_t{3} << 30U);
  CHECK(cli::parse_size("2T") == std::uint64_t{2} << 40U);
  for (const auto* text :
       {"", "K", "-1", "1.5G", "1KB", "1 K", "16777216T", "18446744073709551616"}) {
    INFO(text);
    CHECK_FALSE(cli::parse_size(text));
  }
}

TEST_CASE("outcome: the exit status says which kind of failure it was", "[cli]") {
  using cli::exit_status;
  const auto status = [](const error& e) { return cli::status_of(e); };
  CHECK(status(error(errc::not_found, "")) == exit_status::not_found);
  CHECK(status(error(errc::unauthenticated, "")) == exit_status::denied);
  CHECK(status(error(errc::permission_denied, "")) == exit_status::denied);
  CHECK(status(error(errc::data_loss, "")) == exit_status::data_loss);
  CHECK(status(error(errc::unavailable, "")) == exit_status::unavailable);
  CHECK(status(error(errc::invalid_argument, "")) == exit_status::usage);
  CHECK(status(error(errc::invalid_argument, "").with_http_status(400)) == exit_status::failed);
  CHECK(status(cli::file_error("f", ENOENT)) == exit_status::not_found);
  CHECK(status(cli::file_error("f", EACCES)) == exit_status::local);
  CHECK(status(cli::file_error("f", ENOSPC)) == exit_status::local);
  CHECK(status(cli::file_error("f", "is odd")) == exit_status::local);
}

TEST_CASE("outcome: some failures beside something done are partial", "[cli]") {
  cli::outcome none(nullptr);
  CHECK(none.status() == cli::exit_status::ok);
  const error cancelled(errc::cancelled, "stopped");  // reported by nobody, so the test is silent
  none.failed(cancelled);
  CHECK(none.status() == cli::exit_status::failed);
  none.done(1);
  CHECK(none.status() == cli::exit_status::partial);
  CHECK(none.failures() == 1);
  CHECK_FALSE(none.hopeless());
}

TEST_CASE("outcome: an explanation is one line that says what to do", "[cli]") {
  const auto missing = cli::explain(error(errc::not_found, "gone")
                                        .with_verb("objects.get")
                                        .with_bucket("bkt")
                                        .with_object("a\nb"));
  CHECK(missing == "gs://bkt/a\\x0ab: gone; `dataflux ls gs://bkt/` shows what is there");
  const auto refused = error(errc::unavailable, "Backend Error")
                           .with_verb("objects.get")
                           .with_bucket("bkt")
                           .with_object("d/x")
                           .with_http_status(503)
                           .with_attempts(6);
  CHECK(cli::explain(refused) ==
        "gs://bkt/d/x: Backend Error (HTTP 503, 6 attempts); try again later");
  const auto nowhere = error(errc::not_found, "it does not exist")
                           .with_bucket("bkt")
                           .with_object("x")
                           .with_bucket_missing(true);
  CHECK(cli::explain(nowhere) == "gs://bkt: it does not exist");
  CHECK(cli::explain(error(errc::not_found, "gs://bkt/d is a folder").with_bucket("bkt")) ==
        "gs://bkt/d is a folder");
  const auto local = cli::explain(cli::file_error("dir\n/f", ENOSPC));
  CHECK(local.find('\n') == std::string::npos);
  CHECK(local.find("make room") != std::string::npos);
  CHECK(cli::explain(error(errc::unavailable, "x")).find("--endpoint") != std::string::npos);
}

TEST_CASE("outcome: the last line counts what was done", "[cli]") {
  cli::outcome report(nullptr);
  CHECK(report.end_line(0, 0) == "nothing done; 0.0 s");
  report.done({.target = "a", .bytes = 1});
  CHECK(report.end_line(1.26, 1) == "1 object copied, 1 byte; 1.3 s; 1 retry");
  report.done({.target = "b", .bytes = 2047});
  report.done({.how = cli::deed::kept, .target = "c", .bytes = 5});
  report.done({.how = cli::deed::removed, .target = "d"});
  report.failed(error(errc::cancelled, "stopped"));  // nobody's failure
  CHECK(report.end_line(12, 3) ==
        "2 objects copied, 2.0K bytes; 1 object removed, 0 bytes; 1 object already there, 5 bytes; "
        "12.0 s; 3 retries");
}

TEST_CASE("progress: a line of bar, objects, bytes, rate and time left", "[cli]") {
  const progress_state half{
      .objects = 3, .all_objects = 7, .bytes = 50U << 20U, .all_bytes = 100U << 20U, .seconds = 10};
  CHECK(progress_line("copying", half, 140) ==
        "copying  [###############...............]  3/7 objects  50.0/100.0 MiB  5.0 MiB/s  "
        "0:10 left");
  const auto says = [](const progress_state& state, std::string_view what) {
    return progress_line("x", state, 200).find(what) != std::string::npos;
  };
  CHECK_FALSE(says({.objects = 1, .bytes = 5, .seconds = 1}, "left"));
  CHECK_FALSE(says({.objects = 1, .all_bytes = 5, .seconds = 1}, "left"));
  CHECK_FALSE(says({.bytes = 1000, .all_bytes = 1U << 20U, .seconds = 1}, "left"));
  CHECK(says({.bytes = 9, .all_bytes = 5, .seconds = 1}, "[##############################]"));
  CHECK(progress_line("listing", {.objects = 12, .seconds = 1}, 79) == "listing  12 objects");
  CHECK(progress_line("listing", {}, 79) == "listing  0 objects");
  CHECK(says({.bytes = std::uint64_t{3} << 40U, .all_bytes = std::uint64_t{8} << 40U},
             "3072.0/8192.0 GiB"));
}

TEST_CASE("progress: one large file is no frozen count of objects (mend 17)", "[cli]") {
  progress_state one{.all_objects = 1, .all_bytes = 512U << 20U, .wire_bytes = 0, .seconds = 1};
  const std::string before = progress_line("uploading", one, 79);
  one.wire_bytes = 5U << 20U;  // no part is complete
  one.seconds = 2;
  const std::string after = progress_line("uploading", one, 79);
  CHECK(before != after);
  CHECK(after == "uploading  [..........]  0.0/512.0 MiB  wire 5.0 MiB  2.5 MiB/s  3:25 left");
  // A stream, of which neither is known.
  CHECK(progress_line("uploading", {.bytes = 3U << 20U, .seconds = 1}, 79) ==
        "uploading  3.0 MiB  3.0 MiB/s");
}

TEST_CASE("progress: no line is wider than the terminal, and it leaves out in order (mend 17)",
          "[cli]") {
  const progress_state state{.objects = 12'345,
                             .all_objects = 60'000,
                             .bytes = std::uint64_t{7} << 30U,
                             .all_bytes = std::uint64_t{9} << 30U,
                             .wire_bytes = std::uint64_t{8} << 30U,
                             .seconds = 100,
                             .last = "a/folder/wh\303\266se name\nis long, \346\226\207.bin"};
  const std::string_view in_order[] = {
      "7168.0/9216.0 MiB", "12345/60000 objects", "0:25 left", "81.9 MiB/s",
      "wire 8192.0 MiB",   "[#######...]",        ".bin"};
  std::size_t most_shown = 0;
  for (std::size_t columns = 0; columns <= 300; ++columns) {
    const std::string line = progress_line("downloading", state, columns);
    INFO(columns << ": " << line);
    CHECK(line.size() <= columns);
    CHECK(line.find('\n') == std::string::npos);
    // The more columns, the more is there, and nothing without what matters more.
    std::size_t shown = 0;
    for (const auto what : in_order) {
      const bool bar = what.starts_with('[');
      shown += line.find(bar ? std::string_view("[#") : what) != std::string::npos;
    }
    CHECK(shown >= std::min<std::size_t>(most_shown, 5));
    most_shown = std::max(most_shown, shown);
  }
  CHECK(most_shown == std::size(in_order));
  CHECK(progress_line("downloading", state, 31) == "downloading  7168.0/9216.0 MiB");
  CHECK(progress_line("downloading", state, 79) ==
        "downloading  12345/60000 objects  7168.0/9216.0 MiB  81.9 MiB/s  0:25 left");
  CHECK(progress_line("downloading", state, 250)
            .ends_with("  a/folder/wh\303\266se name?is long, \346\226\207.bin"));
  // A name that is cut begins with a whole character.
  for (std::size_t columns = 100; columns < 200; ++columns) {
    const std::string line = progress_line("downloading", state, columns);
    const auto cut = line.find("...", line.find(']'));
    if (cut == std::string::npos || cut + 3 == line.size()) continue;
    CHECK((static_cast<unsigned char>(line[cut + 3]) & 0xC0U) != 0x80U);
  }
}

TEST_CASE("retry_notice: one line in five seconds, while nothing succeeds", "[cli]") {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  cli::retry_notice notice(3);
  const auto start = dataflux::clock::now() + std::chrono::hours(1);
  notice.on_request({.http_status = 200, .finished = start});
  const error refused(errc::unavailable, "refused by\nhost:1");
  const dataflux::retry_event failed{.attempt = 1, .delay = milliseconds(2440), .cause = &refused};
  CHECK(notice.line(failed, start + milliseconds(999)).empty());
  notice.on_request({.http_status = 0, .finished = start + seconds(1)});
  notice.on_request({.http_status = 503, .finished = start + seconds(1)});
  CHECK(notice.line(failed, start + seconds(1)) ==
        "dataflux: retrying: refused by?host:1; attempt 2 of 3 in 2.4 s; Ctrl-C ends it");
  CHECK(notice.line(failed, start + milliseconds(5999)).empty());
  const error busy = error(errc::unavailable, "Backend Error").with_http_status(503);
  CHECK(notice.line({.attempt = 3, .cause = &busy}, start + seconds(6)) ==
        "dataflux: retrying: Backend Error (HTTP 503); attempt 4 in 0.0 s; Ctrl-C ends it");
  notice.on_request({.http_status = 204, .finished = start + seconds(20)});
  CHECK(notice.line(failed, start + milliseconds(20'500)).empty());
}

TEST_CASE("quantity_text: sizes, rates and times with their units", "[cli]") {
  CHECK(cli::parse_bytes("512") == 512);
  CHECK(cli::parse_bytes("100KiB") == 102'400);
  CHECK(cli::parse_bytes("1.5 MB") == 1.5e6);
  CHECK(cli::parse_bytes("2T") == 2e12);
  CHECK(cli::parse_rate("200MB/s") == 200e6);
  CHECK(cli::parse_rate("10Gbit/s") == 1.25e9);
  CHECK(cli::parse_rate("200000000") == 200e6);
  CHECK(*cli::parse_seconds("20ms") == Approx(0.02));
  CHECK(cli::parse_seconds("1.5s") == 1.5);
  CHECK(cli::parse_seconds("2m") == 120);
  CHECK(cli::parse_seconds("0") == 0);
  for (const auto* text : {"", " ", "MB", "-1", "-1MB", "1e400", "nan", "inf", "1XB", "1MBs",
                           "1MB/h", "1 M B", "0x10", "1,5MB"}) {
    INFO(text);
    CHECK(!cli::parse_bytes(text));
    CHECK(!cli::parse_rate(text));
    CHECK(!cli::parse_seconds(text));
  }
  CHECK(!cli::parse_seconds("20"));
  CHECK(!cli::parse_bytes("10Gbit"));
}

TEST_CASE("quantity_text: what people read", "[cli]") {
  CHECK(cli::bytes_text(512) == "512 bytes");
  CHECK(cli::bytes_text(1.5 * (1 << 20U)) == "1.50 MiB");
  CHECK(cli::bytes_text(1023) == "1.00 KiB");
  CHECK(cli::bytes_text(1e30) != "");
  CHECK(cli::rate_text(200e6) == "200 MB/s");
  CHECK(cli::rate_text(1.25e9) == "1.25 GB/s");
  CHECK(cli::seconds_text(0.042) == "42.0 ms");
  CHECK(cli::seconds_text(3.2) == "3.20 s");
  CHECK(cli::seconds_text(59.99) == "1 min");
  CHECK(cli::seconds_text(845) == "14 min 5 s");
  CHECK(cli::seconds_text(12'000) == "3 h 20 min");
  CHECK(cli::seconds_text(187'000) == "2 d 4 h");
}

}  // namespace texts_test
