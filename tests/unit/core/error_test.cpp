#include <dataflux/error.hpp>
#include <dataflux/result.hpp>

#include <support/catch.hpp>

namespace error_test {

using dataflux::errc;
using dataflux::error;

TEST_CASE("error: a setter on a shared copy leaves the original alone", "[core]") {
  error original{errc::not_found, "gone"};
  original.with_bucket("b").with_object("o").with_http_status(404);
  error copy = original;
  copy.with_object("other").with_attempts(3);
  CHECK(original.object() == "o");
  CHECK(original.attempts() == 0);
  CHECK(copy.object() == "other");
  CHECK(copy.bucket() == "b");
  copy.with_code(errc::already_exists);
  CHECK(copy.code() == errc::already_exists);
  CHECK(original.code() == errc::not_found);
}

TEST_CASE("error: that the bucket is missing is kept by copies that are changed", "[core]") {
  error original{errc::not_found, "gone"};
  CHECK_FALSE(original.bucket_missing());
  original.with_bucket_missing(true);
  error copy = original;
  copy.with_message("not there");
  CHECK(copy.bucket_missing());
  copy.with_bucket_missing(false);
  CHECK_FALSE(copy.bucket_missing());
  CHECK(original.bucket_missing());
}

TEST_CASE("error: one line holds everything an operator needs", "[core]") {
  error e{errc::unavailable, "backend is busy; retry later"};
  e.with_verb("objects.get").with_bucket("b").with_object("a\nb").with_generation(7);
  e.with_http_status(503).with_reason("backendError").with_attempts(4).with_request_id("ABC");
  CHECK(e.to_string() ==
        "unavailable in objects.get of gs://b/a\\x0ab#7: backend is busy; retry later "
        "(HTTP 503, reason backendError, attempts 4, request id ABC)");
}

TEST_CASE("error: nothing that a log reader takes for the end of a line goes into its line",
          "[core]") {
  error e{errc::not_found, "\xc2\x85 \xe2\x80\xa8 \xe2\x80\xa9 \xc2\xa0 \xe2\x80\xaa"};
  e.with_bucket("b").with_object("a\xe2\x80\xa8z");
  CHECK(e.to_string() ==
        "not_found of gs://b/a\\xe2\\x80\\xa8z: \\xc2\\x85 \\xe2\\x80\\xa8 \\xe2\\x80\\xa9 "
        "\xc2\xa0 \xe2\x80\xaa");
}

TEST_CASE("error: HTTP statuses map to google.rpc codes", "[core]") {
  CHECK(dataflux::errc_from_http_status(404) == errc::not_found);
  CHECK(dataflux::errc_from_http_status(412) == errc::failed_precondition);
  CHECK(dataflux::errc_from_http_status(429) == errc::resource_exhausted);
  CHECK(dataflux::errc_from_http_status(503) == errc::unavailable);
  CHECK(dataflux::errc_from_http_status(200) == errc::unknown);
}

TEST_CASE("result: value() throws the error it holds", "[core]") {
  dataflux::result<int> r = error{errc::data_loss, "bad bytes"};
  REQUIRE_FALSE(r);
  try {
    static_cast<void>(r.value());
    FAIL("no exception");
  } catch (const dataflux::exception& e) {
    CHECK(e.error().code() == errc::data_loss);
  }
  CHECK(std::move(r).value_or(7) == 7);
}

}  // namespace error_test
