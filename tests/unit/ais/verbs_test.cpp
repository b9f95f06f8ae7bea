#include <dataflux/ais/detail/error_reply.hpp>
#include <dataflux/ais/detail/list_verb.hpp>
#include <dataflux/ais/detail/object_verbs.hpp>
#include <dataflux/ais/detail/read_verb.hpp>
#include <dataflux/ais/detail/target.hpp>

#include <fuzz/ais_reply_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ais_verbs_test {
// The verbs of AIStore without a client.
namespace {

namespace ais = dataflux::detail::ais;
namespace http = dataflux::detail::http;
namespace service = dataflux::detail::service;
using dataflux::as_bytes;
using dataflux::errc;
using field = http::reply_head::field;

const ais::endpoint& gateway() {
  static const ais::endpoint where = ais::endpoint::make("http://gateway:8080").value();
  return where;
}

http::reply_head head_of(int status, std::vector<field> fields,
                         std::optional<std::uint64_t> length = std::nullopt) {
  http::reply_head head;
  head.assign(status, std::move(fields), length);
  return head;
}

struct scripted_reply {
  service::reply_facts facts{};
  std::string body;

  scripted_reply(int status, std::string_view text, std::vector<field> fields = {}) : body(text) {
    ais::gather_facts(head_of(status, std::move(fields), text.size()), facts);
  }
  service::whole_reply whole() const { return {facts, as_bytes(body), body.size()}; }
};

template <class Verb>
http::request built(const typename Verb::request& r, const typename Verb::state& state,
                    std::string_view provider = "ais") {
  http::request out;
  out.target = "left over";
  out.headers.add("left", "over");
  Verb::build({gateway(), provider}, r, state, out);
  CHECK(out.headers.valid());
  CHECK(out.body.valid());
  return out;
}

std::string shown(const http::request& r) {
  return std::string(http::to_string(r.method)) + " " + r.target + "\r\n" +
         std::string(r.headers.wire());
}

std::string body_of(const http::request& r) {
  std::string text;
  for (const auto part : r.body.parts()) text += dataflux::as_text(part);
  return text;
}

constexpr std::string_view hello{"hello world"};
constexpr std::string_view hello_hash{"45ab6734b21e6968"};
const std::int64_t hello_3 = ais::object_state{"3", "xxhash2", hello_hash}.generation();

const std::vector<field> hello_fields{{"Ais-Checksum-Type", "xxhash2"},
                                      {"Ais-Checksum-Value", "45ab6734b21e6968"},
                                      {"Ais-Version", "3"}};

TEST_CASE("ais target: the name keeps its slashes, the provider goes along", "[ais]") {
  const auto target = [](std::string name, std::string_view provider = "ais") {
    return built<ais::stat_verb>({.bucket = "bkt", .object = std::move(name)}, {}, provider).target;
  };
  CHECK(target("a/b") == "/v1/objects/bkt/a/b?provider=ais");
  CHECK(target("a b+c%2F?#", "gcp") == "/v1/objects/bkt/a%20b%2Bc%252F%3F%23?provider=gcp");
  CHECK(target("\xC3\xA4") == "/v1/objects/bkt/%C3%A4?provider=ais");
}

TEST_CASE("ais target: names that the service would change are refused", "[ais]") {
  for (const char* name : {"a//b", "/a", "//", "a\tb", "a\nb", "a\x7f"}) {
    INFO(name);
    CHECK(ais::check_name(name).error().code() == errc::invalid_argument);
  }
  for (const char* name : {"o?etl_name=x", "o?a=b&etl_name=x"}) {
    const auto refused = ais::check_name(name);
    CHECK(refused.error().code() == errc::unimplemented);
    CHECK(refused.error().message().starts_with("etl_name"));
  }
  for (const char* name : {"a", "a/", "a?b", "etl_name=x", "\xC3\xA4 b"}) {
    CHECK(ais::check_name(name));
  }
}

TEST_CASE("ais endpoint: tokens go over TLS, or stay on this machine", "[ais]") {
  const auto may = [](const char* gateway_url, const char* place) {
    return ais::endpoint::make(gateway_url)
        .value()
        .may_learn_token(http::parse_url(place).value().origin);
  };
  CHECK(may("https://g", "https://target:51081"));
  CHECK_FALSE(may("https://g", "http://target:51081"));
  CHECK_FALSE(may("https://g", "http://127.0.0.1:51081"));
  CHECK(may("http://127.0.0.1:1", "http://localhost:2"));
  CHECK(may("http://127.0.0.1:1", "https://target"));
  CHECK_FALSE(may("http://127.0.0.1:1", "http://target"));
  CHECK(ais::endpoint::make("http://g:1/base//").value().to_string() == "http://g:1/base");
  CHECK_FALSE(ais::endpoint::make("http://g?x=1"));
  CHECK_FALSE(ais::endpoint::make("g:1"));
}

TEST_CASE("ais state: version and checksum make the generation", "[ais]") {
  CHECK(hello_3 > 0);
  CHECK(ais::object_state{}.generation() == 0);
  CHECK(ais::object_state{"4", "xxhash2", hello_hash}.generation() != hello_3);
  CHECK(ais::object_state{"3", "md5", hello_hash}.generation() == hello_3);
  const auto sum = [](std::string_view type, std::string_view value) {
    return ais::checksum_of({"1", type, value});
  };
  CHECK(sum("xxhash2", hello_hash)->other->value == 0x45AB6734B21E6968U);
  CHECK(sum("crc32c", "c99465aa")->crc32c == 0xC99465AAU);
  for (const char* other : {"md5", "xxhash", "sha256", "none", ""}) {
    CHECK_FALSE(sum(other, "zz")->crc32c);
    CHECK_FALSE(sum(other, "zz")->other);
  }
  for (const char* bad : {"45ab6734b21e696", "45ab6734b21e696x", "45ab6734b21e69680"}) {
    CHECK(sum("xxhash2", bad).error().code() == errc::internal);
  }
  CHECK_FALSE(sum("crc32c", "-99465aa"));
  CHECK(ais::xxhash2_text(0x45AB6734B21E6968U) == hello_hash);
  CHECK(ais::xxhash2_text(1) == "0000000000000001");
}

TEST_CASE("ais stat: what the head tells, held against what was asked", "[ais]") {
  dataflux::stat_request asked{.bucket = "bkt", .object = "o"};
  CHECK(shown(built<ais::stat_verb>(asked, {})) == "HEAD /v1/objects/bkt/o?provider=ais\r\n");
  auto fields = hello_fields;
  fields.push_back({"Content-Length", "11"});
  ais::stat_state read;
  ais::stat_verb::read_head({}, head_of(200, fields), read);
  const scripted_reply reply{200, "", hello_fields};
  const auto found = ais::stat_verb::parse(asked, read, reply.whole());
  REQUIRE(found);
  CHECK(found->size == 11);
  CHECK(found->generation == hello_3);
  CHECK(found->etag == "3:45ab6734b21e6968");
  CHECK_FALSE(found->crc32c);
  const auto found_in = [&](std::vector<field> head) {
    ais::stat_state other;
    ais::stat_verb::read_head({}, head_of(200, std::move(head)), other);
    return ais::stat_verb::parse(asked, other, reply.whole());
  };
  const auto latin = found_in({{"Content-Length", "1"},
                               {"Ais-Version", "\xFF"},
                               {"Ais-Checksum-Value", "\xFE"},
                               {"Content-Type", "text/\xFF"}});
  CHECK(latin->content_type == "text/\xC3\xBF");
  CHECK(latin->etag.empty());
  CHECK(latin->generation == 0);
  // Of an object behind the cluster the one comes before the other.
  CHECK(found_in({{"Content-Length", "11"}, {"Ais-Version", "3"}})->generation == 0);
  CHECK(found_in({{"Content-Length", "0"}, {"ais-atime", "5"}})->size == 0);
  CHECK(found_in(hello_fields).error().code() == errc::internal);
  CHECK(found_in({{"Content-Length", "1x"}, {"Ais-Version", "3"}}).error().code() ==
        errc::internal);
  CHECK(found_in({{"Content-Length", "11"}}).error().message().find("AIStore") !=
        std::string::npos);
  asked.generation = hello_3;
  CHECK(ais::stat_verb::parse(asked, read, reply.whole()));
  asked.generation = 7;
  CHECK(ais::stat_verb::parse(asked, read, reply.whole()).error().code() == errc::not_found);
  asked = {.bucket = "bkt", .object = "o", .conditions = {.if_generation_match = 7}};
  CHECK(ais::stat_verb::parse(asked, read, reply.whole()).error().code() ==
        errc::failed_precondition);
}

TEST_CASE("ais read: the head is held against the generation before a byte is given", "[ais]") {
  const dataflux::read_request asked{.bucket = "bkt", .object = "o"};
  const auto parse = [&](int status, std::vector<field> more, std::optional<std::uint64_t> length,
                         const service::read_cursor& cursor) {
    auto fields = hello_fields;
    fields.insert(fields.end(), more.begin(), more.end());
    return ais::read_verb::parse_head(asked, cursor, head_of(status, fields, length));
  };
  const auto whole = parse(200, {}, 11, {});
  REQUIRE(whole);
  CHECK(whole->generation == hello_3);
  CHECK(whole->other->value == 0x45AB6734B21E6968U);
  CHECK(whole->object_size == 11);
  const service::read_cursor part{dataflux::byte_range::span(2, 3), hello_3, false, {}};
  const auto ranged = parse(206, {{"Content-Range", "bytes 2-4/11"}}, 3, part);
  REQUIRE(ranged);
  CHECK(ranged->partial);
  service::read_cursor other = part;
  other.generation = 7;
  CHECK(parse(206, {{"Content-Range", "bytes 2-4/11"}}, 3, other).error().code() ==
        errc::not_found);
  CHECK_FALSE(parse(200, {}, 11, part));
  auto decoding = asked;
  decoding.decode_gzip = true;
  CHECK(ais::read_verb::check({gateway(), "ais"}, decoding).error().code() == errc::unimplemented);
  CHECK(shown(built<ais::read_verb>(asked, part)) ==
        "GET /v1/objects/bkt/o?provider=ais\r\nRange: bytes=2-4\r\n");
}

TEST_CASE("ais read: a member comes whole, of a length that may be told, and of no state",
          "[ais]") {
  const dataflux::read_request asked{.bucket = "bkt", .object = "x.tar", .member = "d/a +&.jpg"};
  CHECK(shown(built<ais::read_verb>(asked, {})) ==
        "GET /v1/objects/bkt/x.tar?provider=ais&archpath=d%2Fa%20%2B%26.jpg\r\n");
  const auto parse = [&](int status, std::optional<std::uint64_t> length) {
    return ais::read_verb::parse_head(asked, {}, head_of(status, hello_fields, length));
  };
  const auto told = parse(200, 11);
  REQUIRE(told);
  CHECK(told->length == 11);
  CHECK(told->generation == 0);
  CHECK_FALSE((told->crc32c || told->other));
  CHECK(parse(200, std::nullopt)->length == dataflux::byte_range::to_end);
  CHECK_FALSE(parse(206, 11));
  CHECK_FALSE(parse(416, 0));
  CHECK_FALSE(parse(200, std::uint64_t{1} << 60U));
}

TEST_CASE("ais insert: the checksum goes along, and comes back compared", "[ais]") {
  const dataflux::insert_request asked{.bucket = "bkt", .object = "o", .data = as_bytes(hello)};
  auto state = ais::insert_verb::prepare(asked, {}).value();
  const auto sent = built<ais::insert_verb>(asked, state);
  CHECK(shown(sent) ==
        "PUT /v1/objects/bkt/o?provider=ais\r\nais-checksum-type: xxhash2\r\n"
        "ais-checksum-value: 45ab6734b21e6968\r\n");
  CHECK(body_of(sent) == hello);
  const auto stored = [&](std::vector<field> fields) {
    ais::insert_verb::read_head({}, head_of(200, fields), state);
    const scripted_reply reply{200, "", std::move(fields)};
    return ais::insert_verb::parse(asked, state, reply.whole());
  };
  CHECK(stored(hello_fields)->generation == hello_3);
  CHECK(stored(hello_fields)->crc32c == 0xC99465AAU);
  CHECK_FALSE(stored({})->crc32c);
  CHECK_FALSE(stored({{"Ais-Checksum-Type", "md5"}, {"Ais-Checksum-Value", "x"}})->crc32c);
  // What is told garbled is stored all the same.
  CHECK_FALSE(stored({{"Ais-Checksum-Type", "xxhash2"}, {"Ais-Checksum-Value", "x"}})->crc32c);
  const auto damaged =
      stored({{"Ais-Checksum-Type", "crc32c"}, {"Ais-Checksum-Value", "00000000"}});
  CHECK(damaged.error().code() == errc::data_loss);

  const auto refused = [](dataflux::insert_request r) {
    r.bucket = "bkt";
    r.object = "o";
    return ais::insert_verb::check({gateway(), "ais"}, r).error();
  };
  CHECK(refused({.conditions = {.if_generation_match = 0}}).message() == ais::no_conditions);
  CHECK(refused({.attributes = {.content_type = "x/y"}}).code() == errc::unimplemented);
  const dataflux::object_metadata same{.size = 11, .etag = "9:45ab6734b21e6968"};
  CHECK(ais::insert_verb::is_ours(asked, state, same));
  const dataflux::object_metadata other{.size = 11, .etag = "9:0000000000000000"};
  CHECK_FALSE(ais::insert_verb::is_ours(asked, state, other));
}

TEST_CASE("ais remove: of whatever is there, and of nothing named more exactly", "[ais]") {
  CHECK(shown(built<ais::remove_verb>({.bucket = "bkt", .object = "o"}, {}))
            .starts_with("DELETE /v1/objects/bkt/o?provider=ais\r\n"));
  const ais::call_context context{gateway(), "ais"};
  CHECK_FALSE(ais::remove_verb::check(context, {.bucket = "b", .object = "o", .generation = 1}));
  CHECK_FALSE(ais::remove_verb::check(
      context, {.bucket = "b", .object = "o", .conditions = {.if_generation_match = 1}}));
  CHECK(ais::remove_verb::check(context, {.bucket = "b", .object = "o"}));
}

dataflux::result<dataflux::list_page> page_of(const dataflux::list_page_request& r,
                                              std::string_view body) {
  const scripted_reply reply{200, body};
  return ais::list_verb::parse(r, {}, reply.whole());
}

std::string document_of(const dataflux::list_page_request& r) {
  ais::list_state state;
  ais::list_verb::prepare(r, {}, state);
  return body_of(built<ais::list_verb>(r, state));
}

TEST_CASE("ais list: the document that asks for a page", "[ais]") {
  CHECK(document_of({.bucket = "bkt", .prefix = "a\"/"}) ==
        R"({"action":"list","value":{"prefix":"a\"/","props":"name,size,checksum,version",)"
        R"("flags":"0","pagesize":10000,"start_after":""}})");
  CHECK(document_of({.start_offset = "b", .max_results = 7})
            .ends_with("\"pagesize\":7,\"start_after\":\"a\xF4\x8F\xBF\xBF\"}}"));
  CHECK(document_of({.page_token = "nlast"}).ends_with("\"start_after\":\"last\"}}"));
  CHECK(document_of({.delimiter = "/", .page_token = "pd/"})
            .ends_with("\"start_after\":\"d/\xF4\x8F\xBF\xBF\"}}"));
  ais::list_state state;
  ais::list_verb::prepare({.bucket = "bkt"}, {}, state);
  CHECK(shown(built<ais::list_verb>({.bucket = "bkt"}, state)) ==
        "GET /v1/buckets/bkt?provider=ais\r\nContent-Type: application/json\r\n");
  const ais::call_context context{gateway(), "ais"};
  for (const dataflux::list_page_request& bad :
       {dataflux::list_page_request{.delimiter = "/", .match_glob = "*"},
        dataflux::list_page_request{.versions = true},
        dataflux::list_page_request{.delimiter = "/", .include_trailing_delimiter = true}}) {
    CHECK(ais::list_verb::check(context, bad).error().code() == errc::unimplemented);
  }
  const auto others = ais::list_verb::check({gateway(), "aws"}, {.bucket = "bkt"});
  CHECK(others.error().code() == errc::unimplemented);
  CHECK(others.error().message().find("gs:// or s3://") != std::string::npos);
  for (const char* token : {"x", "n", "qa", "pd/"}) {
    CHECK_FALSE(ais::list_verb::check(context, {.page_token = token}));
  }
}

constexpr std::string_view five{
    R"({"uuid":"u","continuation_token":"e","entries":[)"
    R"({"name":"a","size":"11","checksum":"45ab6734b21e6968","version":"3"},)"
    R"({"name":"b/1","size":"2"},{"name":"b/2","size":"3","version":"1"},)"
    R"({"name":"c","checksum":"x"},{"name":"e","size":"5"}],"flags":0})"};

std::vector<std::string> names_of(const dataflux::list_page& page) {
  std::vector<std::string> out;
  for (const auto row : page.objects) out.emplace_back(row.name);
  return out;
}
using texts = std::vector<std::string>;

TEST_CASE("ais list: a page, its bounds and its folds", "[ais]") {
  const auto all = page_of({.bucket = "bkt"}, five);
  REQUIRE(all);
  CHECK(names_of(*all) == texts{"a", "b/1", "b/2", "c", "e"});
  CHECK(all->next_page_token == "ne");
  CHECK(all->objects.generation(0) == hello_3);
  CHECK(all->objects.generation(2) == 0);
  CHECK(all->objects.object_size(3) == 0);

  const auto some = page_of({.start_offset = "b", .end_offset = "c"}, five);
  CHECK(names_of(*some) == texts{"b/1", "b/2"});
  CHECK(some->next_page_token.empty());
  CHECK(names_of(*page_of({.page_token = "nb/1"}, five)) == texts{"b/2", "c", "e"});
  const auto matched = page_of({.match_glob = "b/*"}, five);
  CHECK(names_of(*matched) == texts{"b/1", "b/2"});
  CHECK(matched->next_page_token == "ne");

  const auto folded = page_of({.delimiter = "/"}, five);
  CHECK(names_of(*folded) == texts{"a", "c", "e"});
  CHECK(folded->prefixes == texts{"b/"});
  // A page that ends in a folder goes on behind it, and does not tell it again.
  constexpr std::string_view in_folder{
      R"({"continuation_token":"b/2","entries":[{"name":"b/1","size":"2"},{"name":"b/2"}]})"};
  CHECK(page_of({.delimiter = "/"}, in_folder)->next_page_token == "pb/");
  CHECK(page_of({.delimiter = "/", .page_token = "pb/"}, five)->prefixes.empty());
  CHECK(page_of({}, R"({"continuation_token":"","entries":null})")->objects.empty());
}

TEST_CASE("ais list: a page that breaks its contract is refused", "[ais]") {
  for (const char* bad :
       {R"({"entries":[]})", R"([])", R"({"continuation_token":"x","entries":[]})",
        R"({"continuation_token":"","entries":[{"size":"1"}]})",
        R"({"continuation_token":"","entries":[{"name":"a","size":"-1"}]})",
        R"({"continuation_token":"","entries":[{"name":"a","size":"99999999999999999"}]})",
        R"({"continuation_token":"","entries":[{"name":"b"},{"name":"a"}]})"}) {
    INFO(bad);
    const auto page = page_of({}, bad);
    CHECK(page.error().code() == errc::internal);
    CHECK_FALSE(page.error().retryable());
  }
  CHECK_FALSE(page_of({.prefix = "x"}, five));
  // A page of what was told before does not go on.
  for (const char* token : {"ne", "nf"}) {
    CHECK(page_of({.page_token = token}, five).error().code() == errc::internal);
  }
  CHECK(page_of({}, five.substr(0, 100)).error().retryable());
  CHECK(page_of({}, "<html><title>Proxy</title></html>")
            .error()
            .message()
            .find("does not look like AIStore") != std::string::npos);
}

dataflux::error failure(int status, std::string_view body, std::vector<field> fields = {}) {
  const scripted_reply reply{status, body, std::move(fields)};
  return ais::parse_error({"GetObject", "bkt", "o"}, reply.facts, reply.whole().body);
}

TEST_CASE("ais errors: each status, in the service's words", "[ais]") {
  const auto missing =
      failure(404, R"({"tcode":"ErrNotFound","message":"no such object","status":404})");
  CHECK(missing.code() == errc::not_found);
  CHECK(missing.reason() == "ErrNotFound");
  CHECK(missing.message().starts_with("no such object"));
  CHECK_FALSE(missing.bucket_missing());
  CHECK(failure(404, R"({"tcode":"ErrBckNotFound","message":"m"})").bucket_missing());
  CHECK(failure(500, R"({"tcode":"ErrBadCksum","message":"m"})").code() == errc::data_loss);
  CHECK(failure(400, R"({"tcode":"ErrUnsupp","message":"m"})").code() == errc::unimplemented);
  const auto unknown = failure(401, "");
  CHECK(unknown.code() == errc::unauthenticated);
  CHECK(unknown.message().find("AIS_AUTHN_TOKEN") != std::string::npos);
  CHECK(failure(307, "", {{"Location", "http://t:1/secret"}}).message().find("secret") ==
        std::string::npos);
  CHECK(failure(403, "<html></html>").code() == errc::internal);
  CHECK(failure(404, "", {{"x-guploader-uploadid", "x"}}).code() == errc::internal);
}

TEST_CASE("ais errors: which are repeated", "[ais]") {
  using http::reply_class;
  const std::pair<int, reply_class> table[] = {
      {301, reply_class::final},     {307, reply_class::final},
      {400, reply_class::final},     {401, reply_class::unauthenticated},
      {403, reply_class::final},     {404, reply_class::final},
      {408, reply_class::transient}, {416, reply_class::final},
      {429, reply_class::throttled}, {500, reply_class::transient},
      {501, reply_class::final},     {502, reply_class::transient},
      {503, reply_class::transient}, {504, reply_class::transient}};
  for (const auto& [status, meaning] : table) {
    INFO(status);
    CHECK(ais::classify(status, "ErrFailedTo") == meaning);
    const auto e = failure(status, R"({"tcode":"ErrFailedTo","message":"m"})");
    CHECK(e.retryable() ==
          (meaning == reply_class::transient || meaning == reply_class::throttled));
  }
  CHECK(ais::classify(500, "ErrBadCksum") == reply_class::final);
}

TEST_CASE("ais redirects: to a URL as it is, and to nothing else", "[ais]") {
  const auto to = [](int status, std::string_view location) {
    service::reply_facts facts;
    facts.status = status;
    facts.location = location;
    return ais::redirect_of(facts);
  };
  const auto good = to(307, "http://target:51081/v1/objects/b/a+b?pid=P&utm=1");
  REQUIRE(good);
  CHECK(good->origin.host == "target");
  CHECK(good->target == "/v1/objects/b/a+b?pid=P&utm=1");
  CHECK(to(301, "https://t/"));
  CHECK_FALSE(to(200, "https://t/"));
  for (const char* bad : {"", "/v1/objects/b/o", "ftp://t/", "http://t/a\tb", "http://u@t/"}) {
    CHECK_FALSE(to(307, bad));
  }
}

TEST_CASE("ais_reply_fuzz: seeds and mutations keep the invariants", "[ais]") {
  for_each_mutation({five, R"({"tcode":"ErrNotFound","message":"m","status":404})",
                     R"({"continuation_token":"a/2","entries":[{"name":"a/1"},{"name":"a/2"}]})",
                     "http://target:51081/v1/objects/b/o?pid=P", "45ab6734b21e6968", "<html>"},
                    60, fuzz_ais_reply);
}

}  // namespace
}  // namespace ais_verbs_test
