#include <dataflux/codec/timestamp.hpp>
#include <dataflux/gcs/detail/change_verbs.hpp>
#include <dataflux/store/detail/validate.hpp>

#include <unit/gcs/verb_harness.hpp>

namespace change_verbs_test {

using dataflux::errc;
using dataflux::error;
using dataflux::object_metadata;
using dataflux::result;
using dataflux::detail::gcs::compose_verb;
using dataflux::detail::gcs::move_verb;
using dataflux::detail::gcs::patch_verb;
using dataflux::detail::gcs::rewrite_verb;
namespace http = dataflux::detail::http;

namespace {

constexpr std::string_view resource{
    R"({"name":"o","generation":"9","size":"9","metageneration":"2","crc32c":"4waSgw==",
        "contentType":"t","metadata":{"a":"1","dataflux-upload":"m"}})"};

object_metadata found(std::int64_t generation, std::string_view mark = {}) {
  object_metadata o;
  o.generation = generation;
  o.size = 9;
  o.crc32c = 0xE3069283U;
  o.upload_mark = mark;
  return o;
}
result<object_metadata> gone() { return error{errc::not_found, "x"}; }

}  // namespace

TEST_CASE("compose_verb: the request, to the byte", "[gcs]") {
  const dataflux::compose_request r{
      .bucket = "bkt",
      .object = "all/1",
      .sources = {{"a"}, {"b\"", 7}},
      .attributes = {.content_type = "text/plain",
                     .metadata = {{"k", "v"}},
                     .storage_class = "NEARLINE",
                     .custom_time = dataflux::parse_timestamp("2024-02-29T12:00:00Z"),
                     .kms_key_name = "p/k"},
      .conditions = {.if_generation_match = 0, .if_metageneration_match = 3}};
  const auto out = built<compose_verb>(r);
  CHECK(out.method == http::method::post);
  CHECK(out.target ==
        "/storage/v1/b/bkt/o/all%2F1/compose?prettyPrint=false&ifGenerationMatch=0"
        "&ifMetagenerationMatch=3&kmsKeyName=p%2Fk");
  CHECK(out.headers.wire() == "Content-Type: application/json; charset=UTF-8\r\n");
  CHECK(body_text(out) ==
        R"({"destination":{"contentType":"text/plain","storageClass":"NEARLINE",)"
        R"("customTime":"2024-02-29T12:00:00Z","metadata":{"k":"v","dataflux-upload":")" +
            std::string(known_mark) +
            R"("}},"sourceObjects":[{"name":"a"},{"name":"b\"","generation":"7"}]})");
  CHECK(compose_verb::identity(r).create_only);
  CHECK(built<compose_verb>(r, {}, "payer", "quota").target.ends_with("&userProject=payer"));
}

TEST_CASE("compose_verb: the reply, and the checksum asked for", "[gcs]") {
  dataflux::compose_request r{.bucket = "bkt", .object = "o", .sources = {{"a"}}};
  const scripted_reply reply{200, resource};
  const auto made = compose_verb::parse(r, {}, reply.whole());
  REQUIRE(made);
  CHECK(made->generation == 9);
  CHECK(made->upload_mark == "m");
  CHECK(made->metadata == decltype(made->metadata){{"a", "1"}});
  r.crc32c = 0xE3069283U;
  CHECK(compose_verb::parse(r, {}, reply.whole()));
  r.crc32c = 1;
  const auto other = compose_verb::parse(r, {}, reply.whole());
  REQUIRE_FALSE(other);
  CHECK(other.error().code() == errc::data_loss);
  CHECK(other.error().generation() == 9);
  CHECK_FALSE(compose_verb::parse(r, {}, scripted_reply{200, "{"}.whole()));
}

TEST_CASE("compose_verb: its own object is known by its mark", "[gcs]") {
  dataflux::compose_request r{.bucket = "bkt", .object = "o", .sources = {{"a"}}};
  CHECK(compose_verb::is_ours(r, {.mark = "m"}, found(9, "m")));
  CHECK_FALSE(compose_verb::is_ours(r, {.mark = "m"}, found(9, "n")));
  CHECK_FALSE(compose_verb::is_ours(r, {.mark = "m"}, found(9)));
  // Metadata that left no room for a mark: bytes and metadata must do, and bytes are not known.
  CHECK_FALSE(compose_verb::is_ours(r, {}, found(9)));
  r.crc32c = 0xE3069283U;
  CHECK(compose_verb::is_ours(r, {}, found(9)));
  r.crc32c = 1;
  CHECK_FALSE(compose_verb::is_ours(r, {.mark = "m"}, found(9, "m")));
  r.crc32c.reset();
  r.conditions.if_generation_match = 9;
  CHECK_FALSE(compose_verb::is_ours(r, {.mark = "m"}, found(9, "m")));
}

TEST_CASE("move_verb: the request and its reply", "[gcs]") {
  const dataflux::move_request r{
      .bucket = "bkt",
      .source = "from/a",
      .object = "o",
      .source_conditions = {.if_generation_match = 4, .if_metageneration_not_match = 5},
      .conditions = {.if_generation_match = 0}};
  const auto out = built<move_verb>(r);
  CHECK(out.method == http::method::post);
  CHECK(out.target ==
        "/storage/v1/b/bkt/o/from%2Fa/moveTo/o/o?prettyPrint=false&ifSourceGenerationMatch=4"
        "&ifSourceMetagenerationNotMatch=5&ifGenerationMatch=0");
  CHECK(out.body.size() == 0);
  CHECK(move_verb::parse(r, {}, scripted_reply{200, resource}.whole()));
  // 412 may be about the source, too.
  CHECK_FALSE(move_verb::identity(r).create_only);
  CHECK(move_verb::identity({.conditions = {.if_generation_match = 0}}).create_only);
}

TEST_CASE("move_verb: its own object is what is left of a source that is gone", "[gcs]") {
  dataflux::move_request r{.bucket = "bkt", .source = "s", .object = "o"};
  const auto ours = [&](std::int64_t generation, const result<object_metadata>& source) {
    return move_verb::is_ours(r, {}, found(generation), source);
  };
  CHECK_FALSE(ours(9, gone()));  // nothing says what the source was
  r.crc32c = 0xE3069283U;
  CHECK(ours(9, gone()));
  CHECK_FALSE(ours(9, found(1)));
  CHECK_FALSE(ours(9, error{errc::unavailable, "x"}));
  r.conditions.if_generation_match = 9;
  CHECK_FALSE(ours(9, gone()));  // what was to be replaced is still there
  CHECK(ours(10, gone()));
  r.crc32c = 2;
  CHECK_FALSE(ours(10, gone()));
  r.crc32c.reset();
  r.source_conditions.if_generation_match = 8;
  CHECK(ours(10, gone()));
  CHECK_FALSE(ours(7, gone()));     // older than what was moved
  CHECK(ours(10, found(9)));        // another is there since
  CHECK_FALSE(ours(10, found(8)));  // still there
  CHECK(move_verb::witness(r).object == "s");
  CHECK(move_verb::witness(r).generation == 0);  // a noncurrent one says nothing
}

TEST_CASE("rewrite_verb: the request, and its continuation", "[gcs]") {
  dataflux::rewrite_request r{.source_bucket = "src",
                              .source = "s/1",
                              .source_generation = 3,
                              .bucket = "bkt",
                              .object = "o",
                              .attributes = {.kms_key_name = "k"},
                              .max_bytes_per_request = 1048576,
                              .source_conditions = {.if_metageneration_match = 1},
                              .conditions = {.if_generation_match = 0}};
  auto out = built<rewrite_verb>(r);
  CHECK(out.target ==
        "/storage/v1/b/src/o/s%2F1/rewriteTo/b/bkt/o/o?prettyPrint=false&sourceGeneration=3"
        "&ifSourceMetagenerationMatch=1&ifGenerationMatch=0&destinationKmsKeyName=k"
        "&maxBytesRewrittenPerCall=1048576");
  CHECK(out.body.size() == 0);  // the source's metadata
  out = built<rewrite_verb>(r, {.token = "a+b"}, "payer");
  CHECK(out.target.ends_with("&rewriteToken=a%2Bb&userProject=payer"));
  r.attributes.storage_class = "COLDLINE";
  r.attributes.metadata = {{"k", "v"}};
  CHECK(body_text(built<rewrite_verb>(r)) == R"({"storageClass":"COLDLINE","metadata":{"k":"v"}})");
}

TEST_CASE("rewrite_verb: goes on while it advances", "[gcs]") {
  const dataflux::rewrite_request r{.bucket = "bkt", .object = "o"};
  dataflux::detail::gcs::rewrite_progress at;
  const auto parse = [&](std::string_view body) {
    return rewrite_verb::parse(r, at, scripted_reply{200, body}.whole());
  };
  const auto more =
      parse(R"({"done":false,"objectSize":"9","totalBytesRewritten":"4","rewriteToken":"t1"})");
  REQUIRE(more);
  CHECK_FALSE(more->has_value());
  CHECK(at.token == "t1");
  const auto still =
      parse(R"({"done":false,"objectSize":"9","totalBytesRewritten":"4","rewriteToken":"t2"})");
  REQUIRE_FALSE(still);
  CHECK(still.error().retryable());
  CHECK(at.token == "t1");
  const auto done = parse(std::string(R"({"done":true,"resource":)").append(resource) + "}");
  REQUIRE(done);
  REQUIRE(done->has_value());
  CHECK((*done)->generation == 9);
  for (const char* bad : {"{}", R"({"done":"yes"})", R"({"done":true})", R"({"done":false})",
                          R"({"done":false,"totalBytesRewritten":"5"})",
                          R"({"done":false,"totalBytesRewritten":"x","rewriteToken":"t"})",
                          R"({"done":true,"resource":{"name":"p","generation":"1","size":"1"}})"}) {
    CAPTURE(bad);
    const auto refused = parse(bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::internal);
    CHECK_FALSE(refused.error().retryable());
  }
  CHECK(parse("{\"done\":fal").error().retryable());
}

TEST_CASE("rewrite_verb: what a reply leaves out has its default", "[gcs]") {
  const dataflux::rewrite_request r{.bucket = "bkt", .object = "o"};
  dataflux::detail::gcs::rewrite_progress at;
  const auto parse = [&](std::string_view body) {
    return rewrite_verb::parse(r, at, scripted_reply{200, body}.whole());
  };
  const auto more = parse(R"({"rewriteToken":"t1"})");  // not done, of no bytes yet
  REQUIRE(more);
  CHECK_FALSE(more->has_value());
  CHECK(at.token == "t1");
  CHECK(at.copied == 0);
  CHECK(parse(R"({"rewriteToken":"t2"})").error().message().find("does not advance") !=
        std::string::npos);
  CHECK(parse(R"({"done":null,"totalBytesRewritten":"4","rewriteToken":"t2"})"));
  CHECK(at.copied == 4);
  // Without a token there is no way on, and what is done has an object.
  for (const char* bad : {R"({"totalBytesRewritten":"9"})", R"({"done":true})", R"({"done":1})"}) {
    CAPTURE(bad);
    CHECK(parse(bad).error().code() == errc::internal);
  }
}

TEST_CASE("rewrite_verb: its own copy has the source's bytes and is younger", "[gcs]") {
  dataflux::rewrite_request r{.source_bucket = "src", .source = "s", .bucket = "b"};
  CHECK(rewrite_verb::is_ours(r, {}, found(9), found(8)));
  CHECK_FALSE(rewrite_verb::is_ours(r, {}, found(7), found(8)));
  CHECK_FALSE(rewrite_verb::is_ours(r, {}, found(8), found(8)));
  CHECK_FALSE(rewrite_verb::is_ours(r, {}, found(9), gone()));
  auto other = found(8);
  other.crc32c = 1;
  CHECK_FALSE(rewrite_verb::is_ours(r, {}, found(9), other));
  other.crc32c.reset();
  CHECK_FALSE(rewrite_verb::is_ours(r, {}, found(9), other));
  r.conditions.if_generation_match = 9;
  CHECK_FALSE(rewrite_verb::is_ours(r, {}, found(9), found(8)));
}

TEST_CASE("patch_verb: a merge of what is set", "[gcs]") {
  const dataflux::patch_request r{.bucket = "bkt",
                                  .object = "o",
                                  .generation = 5,
                                  .content_type = "t",
                                  .content_encoding = "",
                                  .custom_time = dataflux::parse_timestamp("2024-02-29T12:00:00Z"),
                                  .metadata = {{"a", "1"}, {"b", std::nullopt}, {"c", ""}},
                                  .conditions = {.if_metageneration_match = 1}};
  const auto out = built<patch_verb>(r);
  CHECK(out.method == http::method::patch);
  CHECK(out.target ==
        "/storage/v1/b/bkt/o/o?prettyPrint=false&projection=noAcl&generation=5"
        "&ifMetagenerationMatch=1");
  CHECK(body_text(out) ==
        R"({"contentType":"t","contentEncoding":null,"customTime":"2024-02-29T12:00:00Z",)"
        R"("metadata":{"a":"1","b":null,"c":""}})");
  CHECK(patch_verb::parse(r, {}, scripted_reply{200, resource}.whole()));
}

TEST_CASE("patch_verb: its own change is there in a later metageneration", "[gcs]") {
  dataflux::patch_request r{.bucket = "bkt",
                            .object = "o",
                            .content_type = "t",
                            .metadata = {{"a", "1"}, {"b", std::nullopt}},
                            .conditions = {.if_metageneration_match = 1}};
  object_metadata now = found(9);
  now.metageneration = 2;
  now.content_type = "t";
  now.metadata = {{"a", "1"}, {"z", "9"}};
  CHECK(patch_verb::is_ours(r, {}, now));
  now.metageneration = 1;
  CHECK_FALSE(patch_verb::is_ours(r, {}, now));
  now.metageneration = 2;
  now.metadata = {{"a", "2"}};
  CHECK_FALSE(patch_verb::is_ours(r, {}, now));
  now.metadata = {{"a", "1"}, {"b", ""}};
  CHECK_FALSE(patch_verb::is_ours(r, {}, now));
  now.metadata = {{"a", "1"}};
  r.generation = 8;
  CHECK_FALSE(patch_verb::is_ours(r, {}, now));
}

TEST_CASE("patch and rewrite: what is wrong with them is said before anything is sent", "[gcs]") {
  using dataflux::patch_request;
  using dataflux::rewrite_request;
  CHECK_FALSE(validate(patch_request{.bucket = "bkt", .object = "o"}));
  CHECK(validate(patch_request{.bucket = "bkt", .object = "o", .cache_control = ""}));
  CHECK_FALSE(validate(patch_request{.bucket = "bkt", .object = "o", .cache_control = "a\r\nb"}));
  CHECK_FALSE(validate(
      patch_request{.bucket = "bkt", .object = "o", .metadata = {{"dataflux-upload", "x"}}}));
  CHECK_FALSE(validate(patch_request{.bucket = "bkt", .object = "", .cache_control = ""}));
  rewrite_request r{.source_bucket = "bkt", .source = "s", .bucket = "bkt", .object = "o"};
  CHECK(validate(r));
  r.max_bytes_per_request = 1000;
  CHECK_FALSE(validate(r));
  r.max_bytes_per_request = 2 << 20;
  CHECK(validate(r));
  r.attributes.storage_class = "cold line";
  CHECK_FALSE(validate(r));
  r.attributes.storage_class = {};
  r.conditions = {.if_generation_match = 1, .if_generation_not_match = 2};
  CHECK_FALSE(validate(r));
}

}  // namespace change_verbs_test
