#include <emulator/ais/batch.hpp>
#include <emulator/ais/tar.hpp>
#include <emulator/ais/xxhash64.hpp>
#include <emulator/gzip.hpp>
#include <emulator/uri.hpp>
#include <support/catch.hpp>

#include "../s3/s3_ask.hpp"

namespace ais_test {

using namespace s3_test;
using emulator::content;

namespace {

/// The service with the bucket "bucket"; follows redirects as a client must.
class aistore {
 public:
  aistore() { service_.store().create_bucket("bucket"); }

  http_reply once(const question& asked) { return emulator_test::ask(service_, asked); }
  http_reply ask(const question& asked) {
    const http_reply first = once(asked);
    if (first.status != 301 && first.status != 307) return first;
    static constexpr std::string_view base = "http://127.0.0.1:1";
    const std::string to{first.header("Location")};
    REQUIRE(to.starts_with(base));
    question again = asked;
    const std::string target = to.substr(base.size());
    again.target = target;
    return once(again);
  }
  http_reply put(const std::string& name, std::string body, std::vector<header_view> headers = {}) {
    const std::string target = "/v1/objects/bucket/" + name + "?provider=ais";
    return ask({.method = "PUT",
                .target = target,
                .headers = std::move(headers),
                .body = std::move(body)});
  }
  http_reply get(const std::string& name, std::vector<header_view> headers = {}) {
    const std::string target = "/v1/objects/bucket/" + name;
    return ask({.target = target, .headers = std::move(headers)});
  }
  emulator::service& service() { return service_; }
  http_reply batch(const std::string& document) {
    return ask({.target = "/v1/ml/moss/bucket?provider=ais", .body = document});
  }

 private:
  static emulator::service_options options() {
    emulator::s3::options how;
    how.region = "ais";
    how.anonymous = how.completes_once = true;
    how.payload = emulator::s3::unsigned_payload::allowed;
    how.least_part_size = 4;
    emulator::service_options out;
    out.s3 = how;
    out.aistore = true;
    return out;
  }
  emulator::service service_{options()};
};

/// Names and bytes of a tar's members, by their headers alone.
std::vector<std::string> members(const std::string& tar) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at + 512 <= tar.size() && tar[at] != '\0';) {
    const std::string name = tar.substr(at, 100);
    const std::size_t size = std::stoul(tar.substr(at + 124, 11), nullptr, 8);
    out.push_back(name.substr(0, name.find('\0')) + "=" + tar.substr(at + 512, size));
    at += 512 + (size + 511) / 512 * 512;
  }
  return out;
}

}  // namespace

TEST_CASE("ais: XXH64 of AIStore's example, in runs of any length", "[emulator]") {
  CHECK(emulator::ais::xxhash2(content{std::string{"hello world"}}) == "45ab6734b21e6968");
  CHECK(emulator::ais::xxhash2({}) == "ef46db3751d8e999");
  std::string text;
  for (int i = 0; i < 200; ++i) text += static_cast<char>(i * 31);
  const auto whole = emulator::ais::xxhash64(content{text});
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    content pieces{text.substr(0, cut)};
    pieces.append(content{text.substr(cut)});
    CHECK(emulator::ais::xxhash64(pieces) == whole);
  }
}

TEST_CASE("ais: a tar gives back what was put into it", "[emulator]") {
  const std::string prefixed = std::string(90, 'd') + "/" + std::string(90, 'n');
  const std::string longest(300, 'x');
  emulator::ais::tar_writer tar;
  tar.add("a", content{std::string{"1"}});
  tar.add(prefixed, content{std::string(513, '2')});
  tar.add(longest, {});
  const content archive = tar.finish();
  CHECK(archive.size() % 512 == 0);
  CHECK(emulator::ais::tar_member(archive, "a")->to_string() == "1");
  CHECK(emulator::ais::tar_member(archive, prefixed)->to_string() == std::string(513, '2'));
  CHECK(emulator::ais::tar_member(archive, longest)->to_string().empty());
  CHECK_FALSE(emulator::ais::tar_member(archive, "b").has_value());
  CHECK_FALSE(emulator::ais::tar_member(archive.slice(0, 700), prefixed).has_value());
}

TEST_CASE("ais: object calls are redirected, with the name decoded in part", "[emulator]") {
  aistore s;
  const auto to = [&s](std::string_view method, std::string_view target) {
    const auto reply = s.once({.method = method, .target = target});
    return std::to_string(reply.status) + " " + std::string{reply.header("Location")};
  };
  CHECK(to("GET", "/v1/objects/bucket/a%2Bb?x=1")
            .starts_with("301 http://127.0.0.1:1/v1/objects/bucket/a+b?x=1&pid="));
  CHECK(to("PUT", "/v1/objects/bucket/%C3%A4")
            .starts_with("307 http://127.0.0.1:1/v1/objects/bucket/%c3%a4?pid="));
  CHECK(to("GET", "/v1/ml/moss").starts_with("307 "));
  const auto by_s3 = s.once({.target = "/s3/bucket/k"});
  CHECK(outcome(by_s3) == "307 TemporaryRedirect");
  CHECK(element_of(by_s3, "Endpoint").starts_with("http://127.0.0.1:1/s3/bucket/k?pid="));
}

TEST_CASE("ais: who asks before a body is redirected without one", "[emulator]") {
  aistore s;
  emulator::http_request head;
  head.method = "PUT";
  head.target = "/v1/objects/bucket/k";
  head.headers = {{"Host", "127.0.0.1:1"}};
  CHECK_FALSE(s.service().early(head).has_value());
  head.headers.push_back({"Expect", "100-continue"});
  const auto early = s.service().early(head);
  REQUIRE(early.has_value());
  CHECK(early->request_bytes == 0);
  CHECK(early->what.reply.status == 307);
  head.target = "/v1/objects/bucket/k?pid=p";
  CHECK_FALSE(s.service().early(head).has_value());
}

TEST_CASE("ais: native reads, writes and removals", "[emulator]") {
  aistore s;
  const auto stored = s.put("a/b", "hello world");
  CHECK(stored.status == 200);
  CHECK(stored.header("Ais-Checksum-Value") == "45ab6734b21e6968");
  CHECK(s.put("a/b", "hello world").header("Ais-Version") == "2");
  CHECK(s.put("a/b", "x", {{"ais-checksum-type", "xxhash2"}, {"ais-checksum-value", "0"}}).status ==
        500);
  CHECK(s.put("c", "x", {{"ais-checksum-type", "md5"}, {"ais-checksum-value", "0"}}).status == 200);
  const auto part = s.get("a/b", {{"Range", "bytes=0-4"}});
  CHECK(part.status == 206);
  CHECK(body_of(part) == "hello");
  // Of the whole object, on a range, too.
  CHECK(part.header("Ais-Checksum-Value") == "45ab6734b21e6968");
  CHECK(s.get("a/b", {{"Range", "bytes=11-"}}).status == 416);
  const auto head = s.ask({.method = "HEAD", .target = "/v1/objects/bucket/a/b"});
  CHECK(head.header("Ais-Present") == "true");
  CHECK(body_of(s.get("a//b")) == "hello world");
  const auto missing = s.get("none");
  CHECK(missing.status == 404);
  CHECK(emulator_test::json_of(missing).text("tcode") == "ErrNotFound");
  CHECK(s.ask({.method = "DELETE", .target = "/v1/objects/bucket/a/b"}).status == 200);
  CHECK(s.ask({.method = "DELETE", .target = "/v1/objects/bucket/a/b"}).status == 404);
}

TEST_CASE("ais: members of archives", "[emulator]") {
  aistore s;
  emulator::ais::tar_writer tar;
  tar.add("dir/a.jpg", content{std::string{"picture"}});
  const std::string archive = tar.finish().to_string();
  s.put("s.tar", archive);
  s.put("s.tgz", emulator::gzip(archive));
  for (const char* shard : {"s.tar", "s.tgz"}) {
    const auto got = s.get(std::string{shard} + "?archpath=dir/a.jpg");
    CHECK(body_of(got) == "picture");
    CHECK(got.header("Ais-Checksum-Value").empty());
  }
  CHECK(s.get("s.tar?archpath=none").status == 404);
  const auto ranged = s.get("s.tar?archpath=dir/a.jpg", {{"Range", "bytes=0-1"}});
  CHECK(ranged.status == 400);
  CHECK(emulator_test::json_of(ranged).text("tcode") == "ErrUnsupp");
}

TEST_CASE("ais: listings natively", "[emulator]") {
  aistore s;
  for (const char* name : {"a", "b", "c"}) s.put(name, "x");
  const auto page = [&s](const std::string& value) {
    return emulator_test::json_of(s.ask({.target = "/v1/buckets/bucket?provider=ais",
                                         .body = R"({"action":"list","value":)" + value + "}"}));
  };
  const auto first = page(R"({"pagesize":2})");
  CHECK(first.text("continuation_token") == "b");
  const auto rest = page(R"({"continuation_token":"b","props":"name,size"})");
  CHECK(rest.text("continuation_token") == "");
  const auto& entries = std::get<emulator::json_value::array>(rest.find("entries")->value);
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].text("name") == "c");
  CHECK(entries[0].text("size") == "1");
}

TEST_CASE("ais: GetBatch keeps the order, and its streams end early", "[emulator]") {
  aistore s;
  s.put("a", "1");
  s.put("b", "23");
  const std::string good =
      R"("in":[{"objname":"b"},{"objname":"a"},{"objname":"b","start":1,"length":-1}])";
  const auto whole = s.batch(R"({"mime":".tar","strm":true,)" + good + "}");
  CHECK(whole.header("Content-Type") == "application/x-tar");
  CHECK(whole.chunked);
  CHECK(members(body_of(whole)) ==
        std::vector<std::string>{"bucket/b=23", "bucket/a=1", "bucket/b=3"});
  CHECK(members(body_of(s.batch(R"({"strm":true,"onob":true,)" + good + "}")))[0] == "b=23");

  const std::string holes = R"("in":[{"objname":"a"},{"objname":"x"},{"objname":"b"}])";
  // Well-formed, and shorter than what was asked for.
  CHECK(members(body_of(s.batch(R"({"strm":true,)" + holes + "}"))) ==
        std::vector<std::string>{"bucket/a=1"});
  CHECK(members(body_of(s.batch(R"({"strm":true,"coer":true,)" + holes + "}")))[1] ==
        "__404__/bucket/x=");
  CHECK(s.batch("{" + holes + "}").status == 404);
  const auto told = s.batch(R"({"coer":true,)" + holes + "}");
  CHECK(told.header("Content-Type").starts_with("multipart/mixed"));
  CHECK(body_of(told).find("\"err_msg\"") != std::string::npos);
  std::string many = R"({"objname":"a"})";
  for (int i = 0; i < 20; ++i) many += R"(,{"objname":"x"})";
  const auto soft = s.batch(R"({"strm":true,"coer":true,"in":[)" + many + "]}");
  CHECK(members(body_of(soft)).size() == 7);
  CHECK(s.batch("{}").status == 400);
}

TEST_CASE("ais: S3's form ignores conditions, checksums and limits", "[emulator]") {
  aistore s;
  const auto put = [&s](std::vector<header_view> headers) {
    return s.ask({.method = "PUT", .target = "/s3/bucket/k", .headers = headers, .body = "x"});
  };
  CHECK(put({}).header("ETag").starts_with("\"v1-"));
  CHECK(put({{"If-None-Match", "*"}, {"x-amz-checksum-crc32c", "AAAAAA=="}}).status == 200);
  for (int i = 0; i < 5; ++i) s.put("n" + std::to_string(i), "x");
  const auto page = s.ask({.target = "/s3/bucket?list-type=2&max-keys=2&encoding-type=url"});
  CHECK(elements_of(page, "Key").size() == 6);
  CHECK(element_of(page, "ETag").empty());
  CHECK(element_of(page, "EncodingType").empty());
  CHECK(s.ask({.target = "/s3/bucket/k"}).status == 200);
  CHECK(s.ask({.method = "DELETE", .target = "/s3/bucket/none"}).status == 404);
  const auto copied = s.ask(
      {.method = "PUT", .target = "/s3/bucket/l", .headers = {{"x-amz-copy-source", "/bucket/k"}}});
  CHECK(copied.status == 200);
  CHECK(element_of(copied, "ETag").empty());
  const auto begun = s.ask({.method = "POST", .target = "/s3/bucket/m?uploads"});
  const std::string query = "/s3/bucket/m?uploadId=" + element_of(begun, "UploadId");
  const std::string part_target = query + "&partNumber=1";
  const auto part = s.ask({.method = "PUT", .target = part_target, .body = "12345"});
  const std::string document = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
                               std::string{part.header("ETag")} +
                               "</ETag></Part></CompleteMultipartUpload>";
  CHECK(s.ask({.method = "POST", .target = query, .body = document}).status == 200);
  CHECK(s.ask({.method = "POST", .target = query, .body = document}).status == 404);
  CHECK(elements_of(s.ask({.target = "/s3/bucket?prefix=m"}), "ETag")[0].ends_with("-1"));
}

}  // namespace ais_test
