#include <dataflux/codec/detail/object_list.hpp>
#include <dataflux/codec/timestamp.hpp>

#include <fuzz/object_list_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>

#include <string>
#include <vector>

namespace object_list_test {

using dataflux::errc;
using namespace dataflux::detail::codec;

namespace {

/// Copies what it is shown.
struct collector : object_list_visitor {
  std::vector<object_list_item> items{};
  std::vector<std::string> names{};
  std::vector<std::string> texts{};
  std::vector<std::string> prefixes{};

  void on_object(const object_list_item& item) override {
    items.push_back(item);
    names.emplace_back(item.name);
    std::string all;
    for (const std::string_view text :
         {item.md5_hash, item.etag, item.content_type, item.content_encoding, item.storage_class,
          item.time_created, item.updated}) {
      all.append(text).append("|");
    }
    texts.push_back(all);
  }
  void on_prefix(std::string_view prefix) override { prefixes.emplace_back(prefix); }
};

dataflux::result<object_list_end> read(std::string_view page, collector& seen,
                                       object_fields fields = object_fields::basic) {
  std::string padded{page};
  padded.append(dataflux::buffer_slack, '\0');
  return parse_object_list(dataflux::as_bytes(padded).first(page.size()), padded.size(), fields,
                           seen);
}

constexpr std::string_view full_item =
    R"({"kind":"storage#object","id":"b/o/1","selfLink":"https://x/o","name":"a/b.bin",
        "bucket":"b","generation":"1700000000123456","metageneration":"3",
        "contentType":"text/plain","contentEncoding":"gzip","storageClass":"STANDARD",
        "size":"1048576","md5Hash":"1B2M2Y8AsgTpgAmY7PhCfg==","crc32c":"SZYC0g==","etag":"CAE=",
        "timeCreated":"2024-01-02T03:04:05.678Z","updated":"2025-01-02T03:04:05.678Z",
        "metadata":{"name":"not this","size":"7","items":["x"]},"acl":[{"name":"nor this"}]})";

std::string item(std::string_view members) {
  return std::string{R"({"items":[{)"}.append(members).append("}]}");
}

}  // namespace

TEST_CASE("object_list: a page of the service", "[codec]") {
  const std::string page = std::string{R"({"kind":"storage#objects","nextPageToken":"CgV0b2tlbg==",
      "prefixes":["x/","y\u00e9/"],"items":[)"}
                               .append(full_item)
                               .append(R"(,{"name":"z","size":"0","generation":"1"}]})");
  collector seen;
  const auto end = read(page, seen);
  REQUIRE(end);
  CHECK(end->next_page_token == "CgV0b2tlbg==");
  CHECK(end->objects == 2);
  CHECK(end->prefixes == 2);
  CHECK(seen.prefixes == std::vector<std::string>{"x/", "y\xc3\xa9/"});
  REQUIRE(seen.items.size() == 2);
  CHECK(seen.names == std::vector<std::string>{"a/b.bin", "z"});
  CHECK(seen.items[0].size == 1048576);
  CHECK(seen.items[0].generation == 1700000000123456);
  CHECK(seen.items[0].crc32c == 1234567890U);
  CHECK_FALSE(seen.items[1].crc32c);
  // Nothing but the basic members was asked for.
  CHECK(seen.items[0].metageneration == 0);
  CHECK(seen.texts[0] == "|||||||");
}

TEST_CASE("object_list: how a page is written changes nothing that it says", "[codec]") {
  const std::string first = R"({"name":"a","size":"1","generation":"2","crc32c":"SZYC0g=="})";
  for (const char* last : {
           R"({"crc32c":"AAAAAA==","generation":"9223372036854775807","size":"0","name":"\u00e9"})",
           R"({"name":"b","size":"1234567890123456789","generation":"2","kind":"k"})",
           R"({"name":"b\u00e9","size":"1","generation":"2"})",
           R"({"name":"b","size":12,"generation":"2"})",
           R"({"name":"b","size":"1","generation":"2","metadata":{"name":"c"}})",
           R"({"name":"b","size":"1","generation":"2","acl":[]})",
           R"({"name":"b","size":"1","generation":"2","crc32c":null})",
           R"({"name":"b","size":"1","generation":"2","crc32c":"SZYC0h=="})",
           R"({"name":"b","size":"1","generation":"2","name":"c"})",
           R"({"name":"b","size":"-1","generation":"2"})",
           R"({"name":"b","size":"1","generation":"9223372036854775808"})",
           R"({"name":"","size":"1","generation":"2"})",
           R"({"name":"b","size":"1"})",
           R"({"name":"b","generation":"2","crc32c":"AAAAAA=="})",
           R"({"name":"b","generation":"2","crc32c":"SZYC0g=="})",
           R"({"name":"b","generation":"2"})",
           R"({})",
       }) {
    for (const char* more :
         {"", R"(,"nextPageToken":"t")", R"(,"items":[])", R"(,"prefixes":["p","q"])",
          R"(,"prefixes":[])", R"(,"kind":{})", R"(,"kind":"k")", ","}) {
      const std::string plain =
          R"({"prefixes":["x/"],"items":[)" + first + "," + first + "," + last + "]" + more + "}";
      INFO(plain);
      collector one;
      collector other;
      const auto as_it_is = read(plain, one);
      const auto spaced = read(" " + plain, other);  // is not read in one pass
      REQUIRE(as_it_is.has_value() == spaced.has_value());
      CHECK(one.names == other.names);
      CHECK(one.prefixes == other.prefixes);
      if (!spaced) continue;
      CHECK(as_it_is->next_page_token == spaced->next_page_token);
      CHECK(as_it_is->objects == one.items.size());
      CHECK(as_it_is->prefixes == spaced->prefixes);
      REQUIRE(one.items.size() == other.items.size());
      for (std::size_t k = 0; k < one.items.size(); ++k) {
        CHECK(one.items[k].size == other.items[k].size);
        CHECK(one.items[k].generation == other.items[k].generation);
        CHECK(one.items[k].crc32c == other.items[k].crc32c);
      }
    }
  }
}

TEST_CASE("object_list: a size that is left out is 0 where the checksum is that of no bytes",
          "[codec]") {
  collector seen;
  REQUIRE(read(R"({"items":[{"name":"a","size":"7","generation":"1","crc32c":"SZYC0g=="},)"
               R"({"name":"b","generation":"2","crc32c":"AAAAAA=="}]})",
               seen));
  REQUIRE(seen.items.size() == 2);
  CHECK(seen.items[1].size == 0);
  for (const char* other : {R"({"items":[{"name":"b","generation":"2","crc32c":"SZYC0g=="}]})",
                            R"({"items":[{"name":"b","generation":"2"}]})"}) {
    collector none;
    const auto refused = read(other, none);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message().find("size") != std::string::npos);
  }
}

TEST_CASE("object_list: optional members come when asked for, and only those", "[codec]") {
  const std::string page = std::string{R"({"items":[)"}.append(full_item).append("]}");
  collector all;
  REQUIRE(read(page, all, static_cast<object_fields>(0xFF)));
  CHECK(all.items[0].metageneration == 3);
  CHECK(all.texts[0] ==
        "1B2M2Y8AsgTpgAmY7PhCfg==|CAE=|text/plain|gzip|STANDARD|"
        "2024-01-02T03:04:05.678Z|2025-01-02T03:04:05.678Z|");
  collector some;
  REQUIRE(read(page, some, object_fields::updated | object_fields::etag));
  CHECK(some.texts[0] == "|CAE=|||||2025-01-02T03:04:05.678Z|");
}

TEST_CASE("object_list: custom metadata comes as it is written, if it is an object of strings",
          "[codec]") {
  struct taker : dataflux::detail::codec::object_list_visitor {
    std::vector<std::string> seen{};
    void on_object(const dataflux::detail::codec::object_list_item& item) override {
      seen.emplace_back(item.metadata);
    }
    void on_prefix(std::string_view) override {}
  };
  const auto read_metadata = [](const std::string& metadata) {
    std::string page = item(R"("name":"n","size":"1","generation":"1","metadata":)" + metadata);
    taker into;
    const auto end = dataflux::detail::codec::parse_object_list(
        dataflux::as_bytes(page), page.size(), object_fields::metadata, into);
    if (end) REQUIRE(end->objects == 1);
    return end ? into.seen[0] : "failed: " + end.error().message();
  };
  for (const char* good :
       {R"({})", R"({"a":"b"})", R"({"a" : "b","a":"\u00e4\"}", "" :""})", R"({"{":"}"})"}) {
    CHECK(read_metadata(good) == good);
    CHECK(read_metadata(std::string{good} + " \n") == good);
    CHECK(read_metadata(std::string{good} + R"(,"kind":"x")") == good);
  }
  for (const char* bad : {"null", "[]", R"("a")", "1", R"({"a":1})", R"({"a":{}})", R"({"a":null})",
                          R"({"a"})", R"({"a":"b":1})", R"({"a":"b",})", R"({"a":"\ud800"})",
                          R"({"\x":"b"})", R"({"a":"b"]})", R"({},"metadata":{})"}) {
    CAPTURE(bad);
    CHECK(read_metadata(bad).find("failed: ") == 0);
  }
}

TEST_CASE("object_list: an empty page may have a token, and a page may be bare", "[codec]") {
  collector seen;
  CHECK(read("{}", seen)->next_page_token.empty());
  CHECK(read(R"({"kind":"storage#objects"})", seen)->objects == 0);
  CHECK(read(R"({"nextPageToken":"t"})", seen)->next_page_token == "t");
  CHECK(read(R"({"items":[],"prefixes":[]})", seen)->objects == 0);
  CHECK(seen.items.empty());
}

TEST_CASE("object_list: numbers may be unquoted, and white space anywhere", "[codec]") {
  collector seen;
  REQUIRE(
      read("\n{ \"items\" : [ {\n \"size\" : 12 ,\t\"crc32c\" : \"AAAAAA==\"\n, "
           "\"generation\" : 34 , \"name\" : \"n\" \n} ] }\n ",
           seen));
  REQUIRE(seen.items.size() == 1);
  CHECK(seen.items[0].size == 12);
  CHECK(seen.items[0].generation == 34);
  CHECK(seen.items[0].crc32c == 0U);
}

TEST_CASE("object_list: how an item is written does not matter", "[codec]") {
  const std::string_view forms[] = {
      R"({"name":"o","size":"7","generation":"1700000000123456","crc32c":"SZYC0g=="})",
      R"({"name":"o","crc32c":"SZYC0g==","generation":"1700000000123456","size":"7"})",
      R"({"size":"7","name":"o","generation":"1700000000123456","crc32c":"SZYC0g=="})",
      R"({"name":"o","size":7,"generation":1700000000123456,"crc32c":"SZYC0g=="})",
      R"({"name":"o", "size":"7","generation":"1700000000123456","crc32c":"SZYC0g=="})",
      R"({"name":"\u006f","size":"7","generation":"1700000000123456","crc32c":"SZYC0g=="})",
      R"({"name":"o","kind":"x","size":"7","generation":"1700000000123456","crc32c":"SZYC0g=="})",
      R"({"name":"o","size":"7","generation":"1700000000123456","crc32c":"SZYC0g==","a":["}"]})",
      R"({"name":"o","size":"0000000000000000007","generation":"1700000000123456",)"
      R"("crc32c":"SZYC0g=="})"};
  std::string page{R"({"items":[)"};
  for (const std::string_view form : forms) page.append(form).append(",");
  page.append(R"({"name":"p","size":"9223372036854775807","generation":"12345678"}]})");
  collector seen;
  REQUIRE(read(page, seen));
  REQUIRE(seen.items.size() == std::size(forms) + 1);
  for (std::size_t k = 0; k < std::size(forms); ++k) {
    CAPTURE(forms[k]);
    CHECK(seen.names[k] == "o");
    CHECK(seen.items[k].size == 7);
    CHECK(seen.items[k].generation == 1700000000123456);
    CHECK(seen.items[k].crc32c == 0x499602D2U);
  }
  CHECK(seen.items.back().size == 9223372036854775807U);
  CHECK(seen.items.back().generation == 12345678);
  CHECK_FALSE(seen.items.back().crc32c);
}

TEST_CASE("object_list: names are unescaped and keep their spaces", "[codec]") {
  collector seen;
  REQUIRE(read(R"({"items":[{"name":" a\"\\\/\n\u00e9\ud83d\ude00 ","size":"1","generation":"1",
                  "etag":"\u0041"},{"name":" ","size":"1","generation":"1"}],
                  "prefixes":["p\u002f"]})",
               seen, object_fields::etag));
  CHECK(seen.names[0] == " a\"\\/\n\xc3\xa9\xf0\x9f\x98\x80 ");
  CHECK(seen.texts[0] == "|A||||||");
  CHECK(seen.names[1] == " ");
  CHECK(seen.prefixes[0] == "p/");
}

TEST_CASE("object_list: no object vanishes in silence", "[codec]") {
  const std::pair<std::string, std::string_view> bad[] = {
      {item(R"("size":"1","generation":"1")"), "name"},
      {item(R"("name":"","size":"1","generation":"1")"), "name"},
      {item(R"("name":7,"size":"1","generation":"1")"), "name"},
      {item(R"("name":null,"size":"1","generation":"1")"), "name"},
      {item(R"("name":"\ud800","size":"1","generation":"1")"), "name"},
      {item(R"("name":"n","name":"m","size":"1","generation":"1")"), "name"},
      {item(R"("name":"n","generation":"1")"), "size"},
      {item(R"("name":"n","size":"","generation":"1")"), "size"},
      {item(R"("name":"n","size":"-1","generation":"1")"), "size"},
      {item(R"("name":"n","size":-1,"generation":"1")"), "size"},
      {item(R"("name":"n","size":"1.5","generation":"1")"), "size"},
      {item(R"("name":"n","size":"1x","generation":"1")"), "size"},
      {item(R"("name":"n","size":" 1","generation":"1")"), "size"},
      {item(R"("name":"n","size":true,"generation":"1")"), "size"},
      {item(R"("name":"n","size":{"a":1},"generation":"1")"), "size"},
      {item(R"("name":"n","size":"9223372036854775808","generation":"1")"), "size"},
      {item(R"("name":"n","size":"99999999999999999999","generation":"1")"), "size"},
      {item(R"("name":"n","size":"1")"), "generation"},
      {item(R"("name":"n","size":"1","generation":null)"), "generation"},
      {item(R"("name":"n","size":"1","generation":"1","crc32c":"AAAA")"), "crc32c"},
      {item(R"("name":"n","size":"1","generation":"1","crc32c":"AAAAAB==")"), "crc32c"},
      {item(R"("name":"n","size":"1","generation":"1","crc32c":null)"), "crc32c"},
      {item(R"("n\u0061me":"n","size":"1","generation":"1")"), "escaped"},
      {R"({"items":{"name":"n"}})", "items"},
      {R"({"items":null})", "items"},
      {R"({"items":["n"]})", "items"},
      {R"({"items":[],"items":[]})", "items"},
      {R"({"it\u0065ms":7})", "items"},
      {R"({"prefixes":"x"})", "prefixes"},
      {R"({"prefixes":[7]})", "prefixes"},
      {R"({"prefixes":[""]})", "prefixes"},
      {R"({"nextPageToken":7})", "nextPageToken"},
      {R"({"nextPageToken":"a","nextPageToken":"b"})", "nextPageToken"},
  };
  for (const auto& [page, word] : bad) {
    INFO(page);
    collector seen;
    const auto end = read(page, seen);
    REQUIRE_FALSE(end);
    CHECK(end.error().code() == errc::internal);
    INFO(end.error().message());
    CHECK(end.error().message().find(word) != std::string::npos);
    CHECK(seen.items.empty());
  }
}

TEST_CASE("object_list: an error says where", "[codec]") {
  collector seen;
  const auto end = read(R"({"items":[{"name":"n","size":"x","generation":"1"}]})", seen);
  REQUIRE_FALSE(end);
  CHECK(end.error().message() ==
        R"(objects.list reply: "size": malformed or out of range at byte 23)");
  CHECK(end.error().retryable());
  const auto lacking = read(R"({"items":[{"name":"n","size":"1"}]})", seen);
  REQUIRE_FALSE(lacking);
  CHECK(lacking.error().message().starts_with(
      R"(objects.list reply: "generation": missing or empty in an item)"));
  CHECK_FALSE(lacking.error().retryable());
}

TEST_CASE("object_list: whatever is not one whole object is refused", "[codec]") {
  const std::string whole =
      R"({"items":[{"name":"n","size":"1","generation":"1","crc32c":"AAAAAA=="}],"prefixes":["p"]})";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO(size);
    collector seen;
    CHECK_FALSE(read(std::string_view{whole}.substr(0, size), seen));
  }
  for (const std::string& bad :
       {whole + "x", whole + "}", whole + whole, "[" + whole + "]", whole + ",", "\xff" + whole,
        std::string{"null"}, std::string{"No such bucket"}, std::string{R"({"items":[{]}})"},
        std::string{R"({"items":[}})"}, std::string{R"({"kind":"x":1,"items":[]})"},
        std::string{R"({"kind"::1,"items":[]})"}, std::string{R"({"kind":,"items":[]})"},
        std::string{R"({"kind":[1,"items":[]})"},
        item(R"("name":"n":1,"size":"1","generation":"1")"),
        item(R"("name":"n","x":"y":1,"size":"1","generation":"1")"),
        item(R"("name":"n","size":"1":1,"generation":"1")"), std::string{"{\"kind\":\"\xff\"}"}}) {
    INFO(bad);
    collector seen;
    CHECK_FALSE(read(bad, seen));
  }
}

TEST_CASE("object_list: a page without spare bytes behind it reads the same", "[codec]") {
  const std::string page = std::string{R"({"items":[)"}.append(full_item).append("]}");
  const auto exact = std::make_unique<std::byte[]>(page.size());
  for (std::size_t i = 0; i < page.size(); ++i) exact[i] = static_cast<std::byte>(page[i]);
  collector seen;
  REQUIRE(parse_object_list({exact.get(), page.size()}, page.size(), object_fields::basic, seen));
  CHECK(seen.names == std::vector<std::string>{"a/b.bin"});
}

TEST_CASE("object_list: a visitor may read another page", "[codec]") {
  struct nesting : collector {
    collector inner{};
    void on_object(const object_list_item& each) override {
      REQUIRE(read(item(R"("name":"\u0069nner","size":"1","generation":"1")"), inner));
      collector::on_object(each);
    }
  };
  nesting outer;
  REQUIRE(read(R"({"items":[{"name":"\u006f1","size":"1","generation":"1"},
                            {"name":"o2","size":"2","generation":"1"}]})",
               outer));
  CHECK(outer.names == std::vector<std::string>{"o1", "o2"});
  CHECK(outer.inner.names == std::vector<std::string>{"inner", "inner"});
}

TEST_CASE("object_list_fuzz: seeds and mutations keep the invariants", "[codec]") {
  for_each_mutation(
      {full_item, R"({"items":[{"name":"a\n","size":"1","generation":"2","crc32c":"SZYC0g=="}]})",
       R"({"nextPageToken":"t","prefixes":["x/","\u0041/"],"items":[{"size":12,"generation":"1",
           "name":"b","x":[{"y":[]}]},{"name":"c","size":"3","generation":4}]})",
       R"({"kind":"storage#objects"})"},
      2000, fuzz_object_list);
  SUCCEED("no invariant broke");
}

}  // namespace object_list_test
