#include <dataflux/transfer/detail/upload_begin.hpp>

#include <support/catch.hpp>

#include <string>

namespace upload_begin_test {

using dataflux::errc;
using dataflux::result;
using dataflux::upload_page;
using dataflux::detail::upload_begin;
using dataflux::detail::upload_call;
using dataflux::detail::upload_step;

namespace {

upload_page page_of(const std::string& object, const std::string& id, const std::string& next) {
  upload_page made;
  made.uploads.push_back({.object = object, .upload_id = id});
  made.next_object_marker = next.empty() ? "" : object;
  made.next_upload_marker = next;
  return made;
}

}  // namespace

TEST_CASE("upload_begin: what a lost begin has left is looked for on all pages", "[transfer]") {
  upload_begin one({.bucket = "b", .object = "o"}, true, {});
  REQUIRE(one.start().get<upload_call>().step == upload_step::begin);
  auto next = one.answered(
      result<dataflux::multipart_upload>(
          dataflux::error(errc::unavailable, "the reply was lost").with_retryable(true)),
      {});
  REQUIRE(next.holds<upload_call>());
  REQUIRE(next.get<upload_call>().step == upload_step::find_uploads);
  next = one.answered(result<upload_page>(page_of("o", "first", "first")), {});
  REQUIRE(next.holds<upload_call>());
  const auto& asked = next.get<upload_call>();
  REQUIRE(asked.step == upload_step::find_uploads);
  CHECK(asked.request.get<dataflux::list_uploads_request>().upload_marker == "first");
  next = one.answered(result<upload_page>(page_of("o", "second", "")), {});
  for (const char* id : {"second", "first"}) {
    REQUIRE(next.holds<upload_call>());
    REQUIRE(next.get<upload_call>().step == upload_step::abort_lost);
    CHECK(next.get<upload_call>().request.get<dataflux::multipart_abort_request>().upload_id == id);
    next = one.answered(result<void>(), {});
  }
  CHECK_FALSE(one.left());
}

TEST_CASE("upload_begin: names behind its own are not looked through", "[transfer]") {
  upload_begin one({.bucket = "b", .object = "o"}, true, {});
  static_cast<void>(one.start());
  static_cast<void>(one.answered(
      result<dataflux::multipart_upload>(
          dataflux::error(errc::unavailable, "the reply was lost").with_retryable(true)),
      {}));
  const auto next = one.answered(result<upload_page>(page_of("o2", "another", "another")), {});
  CHECK_FALSE(next.holds<upload_call>());
}

}  // namespace upload_begin_test
