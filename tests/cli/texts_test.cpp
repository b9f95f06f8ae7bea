#include <cli/age_text.hpp>
#include <cli/content_type.hpp>
#include <cli/outcome.hpp>
#include <cli/range_text.hpp>
#include <cli/retry_notice.hpp>
#include <support/catch.hpp>
#include <terminal/progress.hpp>

#include <cerrno>

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

TEST_CASE("content_type: by extension, whatever its case", "[cli]") {
  CHECK(cli::content_type_of("a/b.json") == "application/json");
  CHECK(cli::content_type_of("A.JPG") == "image/jpeg");
  CHECK(cli::content_type_of("a.tar.gz") == "application/gzip");
  for (const auto* name : {"", "a", "json", "a.json/b", "a.", ".", "a.unheardof"}) {
    INFO(name);
    CHECK(cli::content_type_of(name) == "application/octet-stream");
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
  CHECK(missing.find("gs://bkt/a\\x0ab") != std::string::npos);
  CHECK(missing.find("dataflux ls") != std::string::npos);
  const auto local = cli::explain(cli::file_error("dir\n/f", ENOSPC));
  CHECK(local.find('\n') == std::string::npos);
  CHECK(local.find("make room") != std::string::npos);
  CHECK(cli::explain(error(errc::unavailable, "x")).find("--endpoint") != std::string::npos);
}

TEST_CASE("progress: a line of bar, objects, bytes, rate and time left", "[cli]") {
  const std::string half = progress_line("copying", {3, 50U << 20U, 100U << 20U, 10});
  CHECK(half.starts_with("copying "));
  CHECK(half.find("[###############...............]") != std::string::npos);
  CHECK(half.find("3 objects  50.0 MiB  5.0 MiB/s  0:10 left") != std::string::npos);
  CHECK(progress_line("x", {1, 5, 0, 1}).find("left") == std::string::npos);
  CHECK(progress_line("x", {1, 0, 5, 1}).find("left") == std::string::npos);
  CHECK(progress_line("x", {1, 9, 5, 1}).find("[##############################]") !=
        std::string::npos);
}

TEST_CASE("retry_notice: one line in five seconds, while nothing succeeds", "[cli]") {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  cli::retry_notice notice;
  const auto start = dataflux::clock::now() + std::chrono::hours(1);
  notice.on_request({.http_status = 200, .finished = start});
  const error refused(errc::unavailable, "refused by\nhost:1");
  const dataflux::retry_event failed{.attempt = 1, .cause = &refused};
  CHECK(notice.line(failed, start + milliseconds(999)).empty());
  notice.on_request({.http_status = 0, .finished = start + seconds(1)});
  notice.on_request({.http_status = 503, .finished = start + seconds(1)});
  CHECK(notice.line(failed, start + seconds(1)) ==
        "dataflux: retrying: refused by?host:1; Ctrl-C ends it");
  CHECK(notice.line(failed, start + milliseconds(5999)).empty());
  const error busy = error(errc::unavailable, "Backend Error").with_http_status(503);
  CHECK(notice.line({.attempt = 2, .cause = &busy}, start + seconds(6)) ==
        "dataflux: retrying: Backend Error (HTTP 503); Ctrl-C ends it");
  notice.on_request({.http_status = 204, .finished = start + seconds(20)});
  CHECK(notice.line(failed, start + milliseconds(20'500)).empty());
}

}  // namespace texts_test
