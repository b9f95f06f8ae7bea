#include <dataflux/s3/detail/entity_tag.hpp>

#include "client_fixture.hpp"

#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace s3_lost_reply_test {
// Writes under a condition whose reply is lost, at a service whose clock and stamps tell the second
// and no more.
namespace {

using namespace std::chrono_literals;
using namespace s3_client_test;
using dataflux::errc;
using http::method;
using http::transport_failure;

struct stored {
  std::string etag{};
  std::string crc32c{};
  std::string size{"9"};
  std::string mark{};
  std::string modified{};
};

/// A bucket with "source". The first write gets no reply.
struct world {
  explicit world(std::chrono::milliseconds into_the_second) {
    f.time.run_for(into_the_second);
    f.answer = [this](const memory_request& r) { return answer(r); };
  }
  std::string date() const {
    const auto second =
        std::chrono::duration_cast<std::chrono::seconds>(f.time.now() - dataflux::time_point{});
    char text[40];
    std::snprintf(text, sizeof text, "Thu, 01 Jan 1970 00:%02d:%02d GMT",
                  static_cast<int>(second.count() / 60 % 60),
                  static_cast<int>(second.count() % 60));
    return text;
  }
  memory_reply described(const stored& object) const {
    memory_reply reply{.headers = {{"ETag", object.etag},
                                   {"Content-Length", object.size},
                                   {"Last-Modified", object.modified},
                                   {"Date", date()}}};
    if (!object.crc32c.empty()) reply.headers.emplace_back("x-amz-checksum-crc32c", object.crc32c);
    if (!object.mark.empty()) {
      reply.headers.emplace_back("x-amz-meta-dataflux-upload", object.mark);
    }
    return reply;
  }
  memory_reply answer(const memory_request& r) {
    const bool of_source = r.target == "/source";
    if (r.method == method::head) {
      if (of_source) return described(source);
      return there ? described(*there) : memory_reply{.status = 404, .headers = {{"Date", date()}}};
    }
    const bool first = ++writes == 1;
    if (first && before_write) before_write();
    const bool refused = there.has_value();
    if (!refused && (!first || carried_out)) {
      there = made;
      there->modified = date();
      there->mark = r.headers.find("x-amz-meta-dataflux-upload").value_or("");
    }
    if (first) return {.delay = 700ms, .failure = transport_failure::timeout_first_byte};
    if (refused) return failure_of(412, "PreconditionFailed");
    return {.headers = {{"ETag", made.etag}},
            .body = "<CopyObjectResult><ETag>" + made.etag + "</ETag></CopyObjectResult>"};
  }
  result<dataflux::object_metadata> copy() {
    return f.run(dataflux::rewrite_request{.source_bucket = "bkt",
                                           .source = "source",
                                           .bucket = "bkt",
                                           .object = "o",
                                           .conditions = {.if_generation_match = 0}});
  }

  stored source{
      .etag = "\"abc\"", .crc32c = "4waSgw==", .modified = "Thu, 01 Jan 1970 00:00:00 GMT"};
  stored made{.etag = "\"def\"", .crc32c = "4waSgw=="};
  std::optional<stored> there{};
  bool carried_out{true};
  std::function<void()> before_write{};
  int writes{0};
  fixture f{aws_options()};
};

TEST_CASE("s3 lost reply: a copy that was made is found, wherever the second begins", "[s3]") {
  for (int ms = 0; ms < 1000; ms += 100) {
    INFO(ms);
    world w{std::chrono::milliseconds(ms)};
    const auto made = w.copy();
    INFO((made ? "" : made.error().to_string()));
    REQUIRE(made);
    CHECK(made->generation == dataflux::detail::s3::generation_of("def"));
    CHECK(w.writes == 2);
  }
}

TEST_CASE("s3 lost reply: a copy is told by its ETag where no CRC32C is", "[s3]") {
  world w{0ms};
  w.source.crc32c = w.made.crc32c = "";
  w.made.etag = w.source.etag;
  CHECK(w.copy());
  // Neither proves it.
  world v{0ms};
  v.source.crc32c = v.made.crc32c = "";
  CHECK(v.copy().error().code() == errc::already_exists);
}

TEST_CASE("s3 lost reply: another's object is not taken for the copy", "[s3]") {
  for (const bool same_size : {true, false}) {
    world w{300ms};
    w.before_write = [&] {
      w.there = stored{.etag = "\"other\"",
                       .crc32c = "AAAAAA==",
                       .size = same_size ? "9" : "8",
                       .modified = w.date()};
    };
    w.carried_out = false;
    const auto lost = w.copy();
    REQUIRE_FALSE(lost);
    CHECK(lost.error().code() == errc::already_exists);
  }
  // A copy that was not made is made by the second attempt.
  world w{300ms};
  w.carried_out = false;
  CHECK(w.copy());
  CHECK(w.writes == 2);
}

TEST_CASE("s3 lost reply: a write that was carried out bears its mark, another's does not",
          "[s3]") {
  for (const bool ours : {true, false}) {
    world w{500ms};
    w.made.size = "0";
    w.made.crc32c = "AAAAAA==";
    w.carried_out = ours;
    if (!ours) {
      w.before_write = [&] {
        w.there = w.made;
        w.there->mark = "another's";
        w.there->modified = w.date();
      };
    }
    const auto made = w.f.run(dataflux::insert_request{
        .bucket = "bkt", .object = "o", .conditions = {.if_generation_match = 0}});
    CHECK(made.has_value() == ours);
    if (!made) CHECK(made.error().code() == errc::already_exists);
  }
}

}  // namespace
}  // namespace s3_lost_reply_test
