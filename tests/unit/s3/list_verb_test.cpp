#include <dataflux/s3/detail/entity_tag.hpp>
#include <dataflux/s3/detail/list_page.hpp>
#include <dataflux/s3/detail/list_verb.hpp>

#include <fuzz/s3_verb_reply_fuzz.hpp>
#include <support/mutations.hpp>
#include <unit/s3/verb_harness.hpp>

#include <string>
#include <vector>

namespace s3_list_verb_test {
namespace {

using namespace s3_test;
using dataflux::errc;

std::string entry(std::string_view key, std::string_view etag = "&quot;abc&quot;") {
  return "<Contents><Key>" + std::string(key) + "</Key><LastModified>2013-05-24T00:00:00.000Z" +
         "</LastModified><ETag>" + std::string(etag) + "</ETag><Size>9</Size><StorageClass>" +
         "STANDARD</StorageClass></Contents>";
}

std::string page_of(std::string_view entries,
                    std::string_view rest = "<IsTruncated>false</IsTruncated>", bool coded = true) {
  return "<?xml version=\"1.0\"?><ListBucketResult "
         "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>bkt</Name>" +
         std::string(coded ? "<EncodingType>url</EncodingType>" : "") + std::string(entries) +
         std::string(rest) + "</ListBucketResult>";
}

constexpr std::string_view more{
    "<IsTruncated>true</IsTruncated><NextContinuationToken>T/1=</NextContinuationToken>"};

auto parse(const dataflux::list_page_request& r, const std::string& body) {
  const scripted_reply reply{200, body};
  return s3::list_verb::parse(r, {}, reply.whole());
}

std::vector<std::string> names(const dataflux::list_page& page) {
  std::vector<std::string> out;
  for (const auto row : page.objects) out.emplace_back(row.name);
  return out;
}

using texts = std::vector<std::string>;

TEST_CASE("s3 list: the request byte for byte", "[s3]") {
  dataflux::list_page_request r{.bucket = "bkt"};
  CHECK(shown(built<s3::list_verb>(r, {})) ==
        "GET bkt.s3.us-east-1.amazonaws.com/?list-type=2&encoding-type=url&max-keys=1000\r\n");
  r.prefix = "a b/+";
  r.delimiter = "/";
  r.max_results = 7;
  r.page_token = "tT/1=";
  CHECK(built<s3::list_verb>(r, {}).target ==
        "/?list-type=2&encoding-type=url&max-keys=7&prefix=a%20b%2F%2B&delimiter=%2F"
        "&continuation-token=T%2F1%3D");
  r.page_token = "na b/+1";
  CHECK(built<s3::list_verb>(r, {}).target.ends_with("&start-after=a%20b%2F%2B1"));
}

TEST_CASE("s3 list: an exclusive beginning is made of an inclusive one", "[s3]") {
  CHECK(s3::just_before("") == "");
  CHECK(s3::just_before("b") == "a\xF4\x8F\xBF\xBF");
  CHECK(s3::just_before(std::string_view{"b\0", 2}) == "b");
  CHECK(s3::just_before("\xC3\xA4") == "\xC3\xA3\xF4\x8F\xBF\xBF");
  CHECK(s3::just_before("\xC2\x80") == "\x7F\xF4\x8F\xBF\xBF");
  CHECK(s3::just_before("\xEE\x80\x80") == "\xED\x9F\xBF\xF4\x8F\xBF\xBF");      // no surrogates
  CHECK(s3::just_before("\xF0\x90\x80\x80") == "\xEF\xBF\xBF\xF4\x8F\xBF\xBF");  // U+10000
  // Whatever is not before S is behind it, and nothing that is a name lies between but before S.
  for (const std::string s : {"a", "a/b", "z\xC3\xA4", "\x01", "x\xF4\x8F\xBF\xBF"}) {
    CHECK(s3::just_before(s) < s);
  }
}

TEST_CASE("s3 list: a beginning within a folded prefix is that prefix's own", "[s3]") {
  dataflux::list_page_request r{
      .bucket = "bkt", .prefix = "p/", .delimiter = "/", .start_offset = "p/a/x"};
  CHECK(s3::start_of(r)->floor == "p/a/");
  CHECK(s3::start_of(r)->after == s3::just_before("p/a/"));
  r.start_offset = "p/a";
  CHECK(s3::start_of(r)->floor == "p/a");
  r.start_offset = "o";  // before all that has the prefix
  CHECK(s3::start_of(r)->after.empty());
  r.page_token = "?";
  CHECK_FALSE(s3::start_of(r));
  CHECK_FALSE(s3::list_verb::check(usual_context(), r));
}

TEST_CASE("s3 list: names, sizes and states come into columns", "[s3]") {
  const auto page = parse({.bucket = "bkt", .extra = dataflux::extra_columns::storage_class},
                          page_of(entry("a+b%2Bc%01") + entry("b", "") + entry("c", "abc")));
  REQUIRE(page);
  CHECK(names(*page) == texts{"a b+c\x01", "b", "c"});
  CHECK(page->objects.object_size(0) == 9);
  CHECK(page->objects.generation(0) == s3::generation_of("abc"));
  CHECK(page->objects.generation(1) == 0);  // a server without ETags
  CHECK(page->objects.generation(2) == page->objects.generation(0));
  CHECK_FALSE(page->objects.crc32c(0));
  CHECK(page->objects.extras(0).storage_class == "STANDARD");
  CHECK(page->next_page_token.empty());
  // What is not said to be coded is not decoded.
  CHECK(names(*parse({.bucket = "bkt"}, page_of(entry("a+b%20"), "<IsTruncated>false</IsTruncated>",
                                                false))) == texts{"a+b%20"});
}

TEST_CASE("s3 list: the next page goes on behind the last name", "[s3]") {
  const auto page = parse({.bucket = "bkt"}, page_of(entry("a") + entry("b%2F"), more));
  REQUIRE(page);
  CHECK(page->next_page_token == "nb/");
  // Empty and not the last: the server's own token.
  CHECK(parse({.bucket = "bkt"}, page_of("", more))->next_page_token == "tT/1=");
  // Folded prefixes are the server's to go on behind.
  CHECK(parse({.bucket = "bkt", .delimiter = "/"},
              page_of(entry("a") + "<CommonPrefixes><Prefix>b%2F</Prefix></CommonPrefixes>", more))
            ->next_page_token == "tT/1=");
  // ListObjects of old has no token at all.
  CHECK(parse({.bucket = "bkt", .delimiter = "/"},
              page_of(entry("a") + "<CommonPrefixes><Prefix>b%2F</Prefix></CommonPrefixes>",
                      "<IsTruncated>true</IsTruncated><NextMarker>b%2F</NextMarker>"))
            ->next_page_token == "nb/");
}

TEST_CASE("s3 list: what is before the beginning or behind the end is dropped", "[s3]") {
  const dataflux::list_page_request range{.bucket = "bkt", .start_offset = "b", .end_offset = "d"};
  const auto page =
      parse(range, page_of(entry("az") + entry("b") + entry("c") + entry("d") + entry("e"), more));
  REQUIRE(page);
  CHECK(names(*page) == texts{"b", "c"});
  CHECK(page->next_page_token.empty());  // there is nothing more in the range
  const auto before = parse(range, page_of(entry("az"), more));
  REQUIRE(before);
  CHECK(names(*before).empty());
  CHECK(before->next_page_token == "naz");
  // A server that repeats the name that a page goes on behind.
  auto next = range;
  next.page_token = "nb";
  CHECK(names(*parse(next, page_of(entry("b") + entry("c")))) == texts{"c"});
}

TEST_CASE("s3 list: prefixes, and more entries than were asked for", "[s3]") {
  const auto page =
      parse({.bucket = "bkt", .prefix = "p/", .delimiter = "/"},
            page_of(entry("p%2Fo") + "<CommonPrefixes><Prefix>p%2Fa%2F</Prefix></CommonPrefixes>"
                                     "<CommonPrefixes><Prefix>p%2Fb%2F</Prefix></CommonPrefixes>"));
  REQUIRE(page);
  CHECK(page->prefixes == texts{"p/a/", "p/b/"});

  std::string many;
  for (int i = 10'000; i < 11'203; ++i) many += entry("k" + std::to_string(i));
  const auto all = parse({.bucket = "bkt"}, page_of(many));
  REQUIRE(all);
  CHECK(all->objects.size() == 1203);
}

TEST_CASE("s3 list: a page that breaks its contract is an error", "[s3]") {
  const dataflux::list_page_request r{.bucket = "bkt", .prefix = "p"};
  const auto code = [&](const std::string& body) {
    const auto page = parse(r, body);
    return page ? errc::ok : page.error().code();
  };
  CHECK(code(page_of(entry("p1") + entry("p2"))) == errc::ok);
  CHECK(code(page_of(entry("p2") + entry("p1"))) == errc::internal);
  CHECK(code(page_of(entry("p1") + entry("p1"))) == errc::internal);
  CHECK(code(page_of(entry("q"))) == errc::internal);
  CHECK(code(page_of("<Contents><Key>p</Key></Contents>")) == errc::internal);
  CHECK(code(page_of("<Contents><Key>p%2</Key><Size>1</Size></Contents>")) == errc::internal);
  CHECK(code(page_of("<Contents><Size>1</Size></Contents>")) == errc::internal);
  CHECK(code(page_of("<Contents><Key>p</Key><Size>-1</Size></Contents>")) == errc::internal);
  CHECK(code(page_of("<CommonPrefixes><Prefix>p</Prefix></CommonPrefixes>")) == errc::internal);
  CHECK(code(page_of("", "")) == errc::internal);
  CHECK(code(page_of("", "<IsTruncated>maybe</IsTruncated>")) == errc::internal);
  CHECK(code(page_of("", "<IsTruncated>true</IsTruncated>")) == errc::internal);
  CHECK(parse(r, page_of(entry("p1")).substr(0, 150)).error().retryable());
  auto again = r;
  again.page_token = "np1";
  CHECK_FALSE(parse(again, page_of(entry("p1"), more)));
}

TEST_CASE("s3 list: a glob is matched here, and the page goes on behind all names", "[s3]") {
  const dataflux::list_page_request r{.bucket = "bkt", .prefix = "p", .match_glob = "p*.jpg"};
  CHECK(s3::list_verb::check(usual_context(), r));
  CHECK(built<s3::list_verb>(r, {}).target.find("glob") == std::string::npos);
  const auto page =
      parse(r,
            page_of(entry("p1.jpg") + entry("p2.txt") + entry("p3.jpg") + entry("p4/a.jpg"), more))
          .value();
  CHECK(names(page) == texts{"p1.jpg", "p3.jpg"});
  CHECK(page.next_page_token == "np4/a.jpg");
  const auto none = parse(r, page_of(entry("p2.txt"), more)).value();
  CHECK(none.objects.empty());
  CHECK(none.next_page_token == "np2.txt");
}

TEST_CASE("s3 list: what S3 does not know is refused", "[s3]") {
  const auto code = [](const dataflux::list_page_request& r) {
    return s3::list_verb::check(usual_context(), r).error().code();
  };
  CHECK(code({.bucket = "bkt", .delimiter = "/", .match_glob = "*"}) == errc::unimplemented);
  CHECK(code({.bucket = "bkt", .versions = true}) == errc::unimplemented);
  CHECK(s3::list_verb::check(usual_context(), {.bucket = "bkt", .versions = true})
            .error()
            .message()
            .find("ListObjectVersions") != std::string::npos);
  CHECK(code({.bucket = "bkt", .delimiter = "/", .include_trailing_delimiter = true}) ==
        errc::unimplemented);
  CHECK(s3::list_verb::check(usual_context(), {.bucket = "bkt"}));
}

TEST_CASE("s3_verb_reply_fuzz: seeds and mutations keep the invariants", "[s3]") {
  const std::string listing =
      page_of(entry("p%2Fa") + "<CommonPrefixes><Prefix>p%2Fb%2F</Prefix></CommonPrefixes>", more);
  for_each_mutation(
      {listing,
       "<InitiateMultipartUploadResult><UploadId>U</UploadId></InitiateMultipartUploadResult>",
       "  <CompleteMultipartUploadResult><ETag>e</ETag><ChecksumCRC32C>4waSgw==</ChecksumCRC32C>"
       "<ChecksumType>FULL_OBJECT</ChecksumType></CompleteMultipartUploadResult>",
       "<CopyObjectResult><ETag>\"e\"</ETag></CopyObjectResult>",
       "<DeleteResult><Error><Key>o</Key><Code>AccessDenied</Code></Error></DeleteResult>",
       "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>",
       "<ListMultipartUploadsResult><EncodingType>url</EncodingType><IsTruncated>false"
       "</IsTruncated><Upload><Key>p%2Fx</Key><UploadId>U</UploadId></Upload>"
       "</ListMultipartUploadsResult>"},
      300, fuzz_s3_verb_reply);
}

TEST_CASE("s3 list: a name that is no UTF-8 is refused by what the page says", "[s3]") {
  for (const char* key : {"a%FFb", "%C3", "%ED%A0%80"}) {
    const auto page = parse({.bucket = "bkt"}, page_of(entry(key)));
    REQUIRE_FALSE(page);
    CHECK(page.error().code() == errc::internal);
    CHECK(page.error().message().find(key) != std::string::npos);
  }
}

TEST_CASE("s3 list: a server that ignores start-after is told of", "[s3]") {
  const auto message = [](const dataflux::list_page_request& r, const std::string& body) {
    return std::string{parse(r, body).error().message()};
  };
  const std::string told =
      message({.bucket = "bkt", .page_token = "nb"}, page_of(entry("a") + entry("b"), more));
  CHECK(told.find("'b'") != std::string::npos);
  CHECK(told.find("start-after") != std::string::npos);
  const std::string self = message({.bucket = "bkt", .page_token = "tT/1="}, page_of("", more));
  CHECK(self.find("T/1=") != std::string::npos);
  CHECK(self.find("start-after") == std::string::npos);
  const std::string none =
      message({.bucket = "bkt"}, page_of("", "<IsTruncated>true</IsTruncated>"));
  CHECK(none.find("''") == std::string::npos);
}

TEST_CASE("s3 list: a time that no timestamp reaches to is none", "[s3]") {
  for (const char* time : {"9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00Z", "garbage"}) {
    const auto page = parse({.bucket = "bkt", .extra = dataflux::extra_columns::updated},
                            page_of("<Contents><Key>a</Key><Size>1</Size><LastModified>" +
                                    std::string(time) + "</LastModified></Contents>"));
    REQUIRE(page);
    CHECK_FALSE(page->objects.begin().extras().updated);
  }
}

}  // namespace
}  // namespace s3_list_verb_test
