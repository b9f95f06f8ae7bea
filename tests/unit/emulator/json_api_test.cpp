#include <support/catch.hpp>

#include <emulator/digest.hpp>
#include <emulator/gzip.hpp>

#include <chrono>

#include "ask.hpp"

namespace json_api_test {

using namespace emulator_test;
using emulator::service;

namespace {

std::string related(std::string_view metadata, std::string_view media) {
  std::string out = "--B\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n";
  out.append(metadata).append("\r\n--B\r\nContent-Type: text/plain\r\n\r\n");
  out.append(media).append("\r\n--B--\r\n");
  return out;
}

question upload(std::string_view target, std::string body) {
  return {.method = "POST",
          .target = target,
          .headers = {{"Content-Type", "multipart/related; boundary=B"}},
          .body = std::move(body)};
}

std::string size_of_members(const emulator::json_value& value) {
  std::string out;
  for (const auto& [name, member] : std::get<emulator::json_value::object>(value.value)) {
    out.append(name).append(" ");
  }
  return out;
}

}  // namespace

TEST_CASE("json_api: a listing has the service's shape", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a/b", "xyz");
  put(s, "bucket", "c", "");
  const auto reply = ask(s, {.target = "/storage/v1/b/bucket/o?delimiter=%2F"});
  CHECK(reply.status == 200);
  CHECK(reply.chunked);
  CHECK(reply.header("content-type") == "application/json; charset=UTF-8");
  CHECK(size_of_members(json_of(reply)) == "items kind prefixes ");
  CHECK(body_of(reply).starts_with("{\n  \"kind\": \"storage#objects\""));

  const auto nothing = ask(s, {.target = "/storage/v1/b/bucket/o?prefix=q&prettyPrint=false"});
  CHECK(body_of(nothing) == R"({"kind":"storage#objects"})");
}

TEST_CASE("json_api: fields projects, and a misspelt one is refused", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "hello");
  put(s, "bucket", "b", "");
  const auto page = ask(s, {.target = "/storage/v1/b/bucket/o?maxResults=1&prettyPrint=false&"
                                      "fields=nextPageToken,prefixes,items(name,size)"});
  const auto token = json_of(page).text("nextPageToken");
  REQUIRE(token.has_value());
  CHECK(body_of(page) ==
        R"({"nextPageToken":")" + *token + R"(","items":[{"name":"a","size":"5"}]})");
  const auto slash =
      ask(s, {.target = "/storage/v1/b/bucket/o?prettyPrint=false&fields=items/name"});
  CHECK(body_of(slash) == R"({"items":[{"name":"a"},{"name":"b"}]})");
  const auto one =
      ask(s, {.target = "/storage/v1/b/bucket/o/a?prettyPrint=false&fields=name,crc32c"});
  CHECK(body_of(one) == R"({"name":"a","crc32c":"mnG7TA=="})");
  for (const std::string_view bad : {"items(nam)", "item", "items(name", "items(name))", ",name"}) {
    const std::string target = "/storage/v1/b/bucket/o?fields=" + std::string{bad};
    CHECK(ask(s, {.target = target}).status == 400);
  }
}

TEST_CASE("json_api: projection says whether acl and owner are shown", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "hello");
  const auto shows = [&s](const std::string& target, std::string_view method = "GET") {
    const auto reply = ask(s, {.method = method, .target = target});
    REQUIRE(reply.status == 200);
    const std::string body = body_of(reply);
    const bool acl = body.find("storage#objectAccessControl") != std::string::npos;
    CHECK(acl == (body.find("\"owner\"") != std::string::npos));
    return acl;
  };
  for (const std::string target : {"/storage/v1/b/bucket/o/a", "/storage/v1/b/bucket/o"}) {
    CHECK_FALSE(shows(target));
    CHECK_FALSE(shows(target + "?projection=noAcl"));
    CHECK(shows(target + "?projection=full"));
    CHECK(ask(s, {.target = target + "?projection=other"}).status == 400);
  }
  CHECK(shows("/storage/v1/b/bucket/o/a", "PATCH"));
  CHECK_FALSE(shows("/storage/v1/b/bucket/o/a?projection=noAcl", "PATCH"));
  const auto masked =
      ask(s, {.target = "/storage/v1/b/bucket/o/a?projection=full&fields=owner&prettyPrint=false"});
  CHECK(body_of(masked) ==
        R"({"owner":{"entity":"user-emulator@example.iam.gserviceaccount.com"}})");
}

TEST_CASE("json_api: maxResults is clamped to 1000, never refused for size", "[emulator]") {
  service s{{}};
  for (int i = 0; i < 1100; ++i) put(s, "bucket", "o" + std::to_string(10000 + i), "");
  for (const char* target : {"/storage/v1/b/bucket/o?maxResults=5000", "/storage/v1/b/bucket/o"}) {
    const auto reply = json_of(ask(s, {.target = target}));
    CHECK(std::get<emulator::json_value::array>(reply.find("items")->value).size() == 1000);
    CHECK(reply.text("nextPageToken").has_value());
  }
  CHECK(ask(s, {.target = "/storage/v1/b/bucket/o?maxResults=-1"}).status == 400);
  CHECK(ask(s, {.target = "/storage/v1/b/bucket/o?maxResults=x"}).status == 400);
}

TEST_CASE("json_api: a listing is gzipped when both headers ask", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "");
  const auto packed = ask(s, {.target = "/storage/v1/b/bucket/o",
                              .headers = {{"Accept-Encoding", "gzip"}, {"User-Agent", "x gzip"}}});
  CHECK(packed.header("Content-Encoding") == "gzip");
  const auto plain =
      ask(s, {.target = "/storage/v1/b/bucket/o", .headers = {{"Accept-Encoding", "gzip"}}});
  CHECK(plain.header("Content-Encoding").empty());
  CHECK(emulator::gunzip(body_of(packed)) == body_of(plain));
}

TEST_CASE("json_api: what is missing is said in the form of the call", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "");
  const auto metadata = ask(s, {.target = "/storage/v1/b/bucket/o/x%2Fy"});
  CHECK(metadata.status == 404);
  CHECK(reason_of(metadata) == "notFound");
  const auto media = ask(s, {.target = "/storage/v1/b/bucket/o/x%2Fy?alt=media"});
  CHECK(media.status == 404);
  CHECK(body_of(media) == "No such object: bucket/x/y");
  CHECK(reason_of(ask(s, {.target = "/storage/v1/b/other/o"})) == "notFound");
  // The name is one segment: an unencoded slash is another resource.
  CHECK(ask(s, {.target = "/storage/v1/b/bucket/o/x/y"}).status == 404);
  CHECK(ask(s, {.target = "/storage/v1/b/bucket/o/a?generation=1"}).status == 404);
  CHECK(ask(s, {.target = "/storage/v1/b/bucket/o?filter=x"}).status == 400);
}

TEST_CASE("json_api: names keep every byte through a path", "[emulator]") {
  service s{{}};
  const std::string name = "a/../b%2F+? #\xc3\xa9";
  put(s, "bucket", name, "odd");
  const std::string target = "/storage/v1/b/bucket/o/" + emulator::percent_encode(name);
  CHECK(json_of(ask(s, {.target = target})).text("name") == name);
  CHECK(body_of(ask(s, {.target = target + "?alt=media"})) == "odd");
  CHECK(body_of(ask(s, {.target = "/download" + target + "?alt=media"})) == "odd");
}

TEST_CASE("json_api: an Object says what it should", "[emulator]") {
  service s{{}};
  const auto before = std::chrono::system_clock::now();
  const auto generation =
      put(s, "bucket", "n", "123456789", {.content_type = "text/x", .custom = {{"k", "v"}}});
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(before.time_since_epoch());
  CHECK(generation >= us.count());
  const auto object = json_of(ask(s, {.target = "/storage/v1/b/bucket/o/n"}));
  CHECK(object.text("kind") == "storage#object");
  CHECK(object.text("id") == "bucket/n/" + std::to_string(generation));
  CHECK(object.text("generation") == std::to_string(generation));
  CHECK(object.text("metageneration") == "1");
  CHECK(object.text("size") == "9");
  CHECK(object.text("crc32c") == "4waSgw==");
  CHECK(object.text("md5Hash") == "JfnnlDI7RTiF9RgfG2JNCw==");
  CHECK(object.text("contentType") == "text/x");
  CHECK(object.find("metadata")->text("k") == "v");
  CHECK_FALSE(object.text("contentEncoding").has_value());
  CHECK(
      object.text("mediaLink")->starts_with("http://127.0.0.1:1/download/storage/v1/b/bucket/o/n"));
}

TEST_CASE("json_api: generations rise strictly", "[emulator]") {
  service s{{}};
  std::int64_t last = 0;
  for (int i = 0; i < 500; ++i) {
    const auto generation = put(s, "bucket", "n", "");
    REQUIRE(generation > last);
    last = generation;
  }
}

TEST_CASE("json_api: insert takes media and multipart bodies", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const auto media = ask(s, {.method = "POST",
                             .target = "/upload/storage/v1/b/bucket/o?uploadType=media&name=a%2Fm",
                             .headers = {{"Content-Type", "image/png"}},
                             .body = "bytes"});
  CHECK(media.status == 200);
  CHECK(json_of(media).text("contentType") == "image/png");
  CHECK(body_of(ask(s, {.target = "/bucket/a/m"})) == "bytes");

  const std::string_view target = "/upload/storage/v1/b/bucket/o?uploadType=multipart";
  const std::string bytes = "two\r\n--BC\r\n lines";
  const auto both = ask(s, upload(target, related(R"({"name":"m2","metadata":{"k":"v"},)"
                                                  R"("contentEncoding":"x"})",
                                                  bytes.substr(0, 5) + bytes.substr(12))));
  CHECK(both.status == 200);
  const auto object = json_of(both);
  CHECK(object.text("name") == "m2");
  CHECK(object.text("contentType") == "text/plain");
  CHECK(object.text("contentEncoding") == "x");
  CHECK(object.find("metadata")->text("k") == "v");
  const auto named = ask(s, upload("/upload/storage/v1/b/bucket/o?uploadType=multipart&name=q",
                                   related(R"({"name":"m3"})", "")));
  CHECK(json_of(named).text("name") == "q");
  CHECK(json_of(named).text("size") == "0");
}

TEST_CASE("json_api: insert checks the digests declared", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const std::string_view target = "/upload/storage/v1/b/bucket/o?uploadType=multipart";
  CHECK(
      ask(s, upload(target, related(R"({"name":"a","crc32c":"4waSgw=="})", "123456789"))).status ==
      200);
  const auto wrong =
      ask(s, upload(target, related(R"({"name":"b","crc32c":"4waSgw=="})", "12345678")));
  CHECK(wrong.status == 400);
  CHECK(reason_of(wrong) == "invalid");
  CHECK(ask(s, upload(target, related(R"({"name":"b","md5Hash":"4waSgw=="})", ""))).status == 400);
  CHECK(ask(s, {.target = "/storage/v1/b/bucket/o/b"}).status == 404);
  const auto by_header =
      ask(s, {.method = "POST",
              .target = "/upload/storage/v1/b/bucket/o?uploadType=media&name=c",
              .headers = {{"x-goog-hash", "crc32c=AAAAAA==, md5=1B2M2Y8AsgTpgAmY7PhCfg=="}},
              .body = "x"});
  CHECK(by_header.status == 400);
}

TEST_CASE("json_api: insert refuses malformed requests and stores nothing", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const std::string target = "/upload/storage/v1/b/bucket/o?uploadType=multipart";
  const std::string good = related(R"({"name":"a"})", "data");
  for (std::size_t cut = 0; cut + 4 < good.size(); ++cut) {
    REQUIRE(ask(s, upload(target, good.substr(0, cut))).status == 400);
  }
  for (const char* metadata :
       {"", "[]", "{", R"({"name":1})", R"({"name":""})", "{}",
        R"({"name":"a","metadata":{"k":1}})", R"({"name":".."})", R"({"name":"a\nb"})"}) {
    REQUIRE(ask(s, upload(target, related(metadata, "x"))).status == 400);
  }
  const std::string long_name(1025, 'x');
  CHECK(ask(s, upload(target + "&name=" + long_name, good)).status == 400);
  CHECK(ask(s, upload(target + "&name=" + long_name.substr(1), good)).status == 200);
  CHECK(ask(s, upload(target + "&name=%ff", good)).status == 400);
  question plain = upload(target, good);
  plain.headers = {{"Content-Type", "application/json"}};
  CHECK(ask(s, plain).status == 400);
  CHECK(ask(s, upload("/upload/storage/v1/b/bucket/o", good)).status == 400);
  CHECK(ask(s, upload("/upload/storage/v1/b/other/o?uploadType=multipart", good)).status == 404);
}

TEST_CASE("json_api: delete", "[emulator]") {
  service s{{}};
  const auto generation = put(s, "bucket", "a", "");
  CHECK(ask(s, {.method = "DELETE", .target = "/storage/v1/b/bucket/o/a?generation=7"}).status ==
        404);
  const std::string target = "/storage/v1/b/bucket/o/a?generation=" + std::to_string(generation);
  const auto gone = ask(s, {.method = "DELETE", .target = target});
  CHECK(gone.status == 204);
  CHECK(gone.body.empty());
  CHECK(reason_of(ask(s, {.method = "DELETE", .target = target})) == "notFound");
}

TEST_CASE("json_api: preconditions on reads give 412 and 304", "[emulator]") {
  service s{{}};
  const std::string g = std::to_string(put(s, "bucket", "a", "x"));
  const auto status = [&s](const std::string& query, std::string_view etag_header = {},
                           std::string_view etag = {}) {
    question q{.target = {}};
    const std::string target = "/storage/v1/b/bucket/o/a?alt=media&" + query;
    q.target = target;
    if (!etag_header.empty()) q.headers.push_back({etag_header, etag});
    return ask(s, q).status;
  };
  CHECK(status("ifGenerationMatch=" + g) == 200);
  CHECK(status("ifGenerationMatch=1") == 412);
  CHECK(status("ifGenerationMatch=0") == 412);
  CHECK(status("ifGenerationNotMatch=" + g) == 304);
  CHECK(status("ifGenerationNotMatch=1") == 200);
  CHECK(status("ifMetagenerationMatch=1") == 200);
  CHECK(status("ifMetagenerationMatch=2") == 412);
  CHECK(status("ifMetagenerationNotMatch=1") == 304);
  CHECK(status("ifGenerationMatch=z") == 400);
  const auto etag = json_of(ask(s, {.target = "/storage/v1/b/bucket/o/a"})).text("etag").value();
  CHECK(status("", "If-None-Match", etag) == 304);
  CHECK(status("", "If-None-Match", "other") == 200);
  CHECK(status("", "If-Match", etag) == 200);
  CHECK(status("", "If-Match", "other") == 412);
  const auto unmodified = ask(s, {.target = "/storage/v1/b/bucket/o/a?ifMetagenerationNotMatch=1"});
  CHECK(unmodified.status == 304);
  CHECK(unmodified.body.empty());
  CHECK(reason_of(ask(s, {.target = "/storage/v1/b/bucket/o/a?ifGenerationMatch=1"})) ==
        "conditionNotMet");
}

TEST_CASE("json_api: preconditions on writes", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const auto insert = [&s](const std::string& query) {
    const std::string target = "/upload/storage/v1/b/bucket/o?uploadType=media&name=a&" + query;
    return ask(s, {.method = "POST", .target = target, .body = "x"});
  };
  CHECK(insert("ifGenerationMatch=5").status == 412);
  CHECK(insert("ifGenerationNotMatch=0").status == 412);
  const auto first = insert("ifGenerationMatch=0");
  CHECK(first.status == 200);
  CHECK(insert("ifGenerationMatch=0").status == 412);
  const std::string g = json_of(first).text("generation").value();
  CHECK(insert("ifGenerationNotMatch=" + g).status == 412);
  CHECK(insert("ifGenerationMatch=" + g).status == 200);
  CHECK(insert("ifGenerationMatch=" + g).status == 412);
  const std::string stale = "/storage/v1/b/bucket/o/a?ifGenerationMatch=" + g;
  CHECK(ask(s, {.method = "DELETE", .target = stale}).status == 412);
  CHECK(ask(s, {.target = "/storage/v1/b/bucket/o/a"}).status == 200);
}

TEST_CASE("json_api: buckets", "[emulator]") {
  service s{{}};
  const question create{
      .method = "POST", .target = "/storage/v1/b?project=p", .body = R"({"name":"my-bucket"})"};
  const auto made = ask(s, create);
  CHECK(made.status == 200);
  CHECK(json_of(made).text("name") == "my-bucket");
  CHECK(reason_of(ask(s, create)) == "conflict");
  CHECK(ask(s, {.target = "/storage/v1/b/my-bucket"}).status == 200);
  CHECK(ask(s, {.target = "/storage/v1/b/none"}).status == 404);
  for (const char* name : {"ab", "UPPER", "a/b", ""}) {
    question bad = create;
    bad.body = R"({"name":")" + std::string{name} + R"("})";
    CHECK(ask(s, bad).status == 400);
  }
}

TEST_CASE("json_api: unknown paths and methods answer 404", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  CHECK(ask(s, {.method = "PATCH", .target = "/storage/v1/b/bucket/o/a"}).status == 404);
  CHECK(ask(s, {.method = "POST", .target = "/storage/v1/b/bucket/o/a/frobnicate"}).status == 404);
  CHECK(ask(s, {.method = "GET", .target = "*"}).status == 404);
  CHECK(ask(s, {.method = "GET", .target = ""}).status == 404);
}

TEST_CASE("json_api: multipart bodies as clients write them", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const auto insert = [&s](std::string_view type, std::string body) {
    return ask(s, {.method = "POST",
                   .target = "/upload/storage/v1/b/bucket/o?uploadType=multipart",
                   .headers = {{"Content-Type", type}},
                   .body = std::move(body)});
  };
  // LF alone, and an apostrophe-quoted boundary; the media keeps its own CR.
  CHECK(insert("multipart/related; boundary='==0=='",
               "--==0==\nContent-Type: application/json\n\n{\"name\":\"a\"}\n--==0==\n"
               "Content-Type: text/x\n\ndata\r\n--==0==--")
            .status == 200);
  CHECK(body_of(ask(s, {.target = "/bucket/a"})) == "data\r");
  CHECK(insert("Multipart/Related; charset=x; Boundary=\"a b\"",
               "--a b\r\n\r\n{\"name\":\"b\"}\r\n--a b\r\n\r\n--a\r\n--a b--\r\n")
            .status == 200);
  CHECK(body_of(ask(s, {.target = "/bucket/b"})) == "--a");
}

TEST_CASE("json_api: fields of the same parent add up (mend 22)", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  const auto listed = [&s](const std::string& fields) {
    const std::string target = "/storage/v1/b/bucket/o?prettyPrint=false&fields=" + fields;
    return body_of(ask(s, {.target = target}));
  };
  const std::string both = R"({"items":[{"name":"a","size":"1"}]})";
  CHECK(listed("items/name,items/size") == both);
  CHECK(listed("items(name),items/size,items(name,size)") == both);
  CHECK(listed("items/size,nextPageToken,items(name)") == both);
  for (const char* all : {"items/*", "items", "items/name,items", "items,items/name", "*",
                          "items/name,items/*", "items(*,name)"}) {
    INFO(all);
    CHECK(listed(all).find("timeCreated") != std::string::npos);
  }
  CHECK(ask(s, {.target = "/storage/v1/b/bucket/o?fields=items/*,items/nam"}).status == 400);
  CHECK(ask(s, {.target = "/storage/v1/b/bucket/o?fields=items/"}).status == 400);
}

TEST_CASE("json_api: bodies that are compressed for the way (mend 22)", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const auto media = [&s](std::string body) {
    return ask(s, {.method = "POST",
                   .target = "/upload/storage/v1/b/bucket/o?uploadType=media&name=a",
                   .headers = {{"Content-Encoding", "gzip"}},
                   .body = std::move(body)});
  };
  CHECK(media("no gzip").status == 400);
  REQUIRE(media(emulator::gzip("plain")).status == 200);
  const auto object = json_of(ask(s, {.target = "/storage/v1/b/bucket/o/a"}));
  CHECK(object.text("size") == "5");
  CHECK_FALSE(object.find("contentEncoding"));
  CHECK(ask(s, {.method = "PATCH",
                .target = "/storage/v1/b/bucket/o/a",
                .headers = {{"Content-Encoding", "gzip"}},
                .body = emulator::gzip(R"({"contentType":"x/y"})")})
            .status == 200);
  CHECK(json_of(ask(s, {.target = "/storage/v1/b/bucket/o/a"})).text("contentType") == "x/y");
  // Over XML it is the object's own.
  const std::string packed = emulator::gzip("plain");
  ask(s, {.method = "PUT",
          .target = "/bucket/b",
          .headers = {{"Content-Encoding", "gzip"}},
          .body = packed});
  CHECK(json_of(ask(s, {.target = "/storage/v1/b/bucket/o/b"})).text("size") ==
        std::to_string(packed.size()));
}

TEST_CASE("json_api: null is an empty body (mend 22)", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  CHECK(ask(s, {.method = "POST",
                .target = "/storage/v1/b/bucket/o/a/rewriteTo/b/bucket/o/b",
                .body = "null"})
            .status == 200);
  CHECK(ask(s, {.method = "POST",
                .target = "/upload/storage/v1/b/bucket/o?uploadType=resumable&name=c",
                .body = "null"})
            .status == 200);
  CHECK(ask(s, {.method = "POST",
                .target = "/upload/storage/v1/b/bucket/o?uploadType=multipart&name=d",
                .headers = {{"Content-Type", "multipart/related; boundary=b"}},
                .body = "--b\r\n\r\nnull\r\n--b\r\n\r\nx\r\n--b--"})
            .status == 200);
}

TEST_CASE("json_api: what is not modelled is refused by a status that ends every client",
          "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  const std::string bucket = "/storage/v1/b/bucket";
  // Google's clients for Go repeat every 5xx for ever.
  for (const std::string& target :
       {bucket + "/folders", bucket + "/folders/a%2F", bucket + "/managedFolders",
        bucket + "/anywhereCaches", bucket + "/operations", bucket + "/o/a/iam"}) {
    INFO(target);
    const auto refused = ask(s, {.target = target});
    CHECK(refused.status == 400);
    CHECK(reason_of(refused) == "notImplemented");
    CHECK(body_of(refused).find("does not model") != std::string::npos);
    const auto removal = ask(s, {.method = "DELETE", .target = target});
    CHECK(removal.status == 400);
    CHECK(reason_of(removal) == "notImplemented");
  }
  for (const std::string& target :
       {bucket + "/operations/1/cancel", bucket + "/o/watch", bucket + "/restore?generation=1"}) {
    const auto refused = ask(s, {.method = "POST", .target = target});
    CHECK(refused.status == 400);
    CHECK(reason_of(refused) == "notImplemented");
  }
  CHECK(
      ask(s, {.target = bucket + "/iam/testPermissions?permissions=storage.objects.get"}).status ==
      200);
  const auto over_xml = ask(s, {.target = "/bucket/a?acl"});
  CHECK(over_xml.status == 400);
  CHECK(element_of(over_xml, "Code") == "NotImplemented");
  for (const char* target : {"/bucket?lifecycle", "/bucket?cors", "/bucket?delete"}) {
    const auto refused = ask(s, {.method = "POST", .target = target, .body = "x"});
    CHECK(refused.status == 400);
    CHECK(element_of(refused, "Code") == "NotImplemented");
  }
  const auto instructed = ask(s, {.target = bucket + "/o/a?alt=media",
                                  .headers = {{"x-goog-emulator-instructions", "stall-always"}}});
  CHECK(instructed.status == 400);
}

}  // namespace json_api_test
