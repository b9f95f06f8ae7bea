#include <dataflux/auth/credentials.hpp>
#include <dataflux/s3/client.hpp>

#include <support/catch.hpp>
#include <support/s3_behaviour.hpp>
#include <support/store_features.hpp>
#include <support/temporary_folder.hpp>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// The client of S3 against a server by other people, which judge.py starts, with buckets
// "judged-00" and on, and "judged-versions". README.md says what each server is not asked.
// [strict]: what only versitygw does as the service does. [lenient]: what only moto does not.

namespace {
/// This machine's clock, as the tests have set it.
std::atomic<std::int64_t> seconds_ahead{0};
}  // namespace

/// In place of the system's, in this program alone.
extern "C" int clock_gettime(clockid_t which, timespec* to) noexcept {
  const auto status = static_cast<int>(syscall(SYS_clock_gettime, which, to));
  if (which == CLOCK_REALTIME) to->tv_sec += seconds_ahead;
  return status;
}

namespace {

using dataflux::errc;
using s3_behaviour::content;
using s3_behaviour::good;
namespace s3 = dataflux::s3;

/// Of those that judge.py gives.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) FAIL(name << " is not set: run this by judge.py");
  return value;
}

bool is_versitygw() { return variable("DATAFLUX_JUDGE_SERVER") == "versitygw"; }

s3::client_options options_of(dataflux::credentials_ptr keys = {}) {
  s3::client_options o{.credentials = std::move(keys),
                       .region = variable("AWS_REGION"),
                       .endpoint = variable("AWS_ENDPOINT_URL_S3")};
  if (!o.credentials) {
    o.credentials = good(dataflux::make_aws_keys(
        {.id = variable("AWS_ACCESS_KEY_ID"), .secret = variable("AWS_SECRET_ACCESS_KEY")}));
  }
  o.transport.ca_file = variable("DATAFLUX_JUDGE_CA");
  return o;
}

/// A client, and a bucket that no other test has.
struct judged {
  std::shared_ptr<s3::client> client = good(s3::client::create(options_of()));
  std::string bucket = next_bucket();

  static std::string next_bucket() {
    static int next = 0;  // all tests of one process
    const std::string digits = std::to_string(100 + next++);
    return "judged-" + digits.substr(1);
  }
  s3_behaviour::behaviour behaviour() const {
    std::vector<std::string> names = s3_behaviour::odd_names;
    // Its names are paths of files.
    if (is_versitygw()) {
      names = {"plain",      "a b+c%2F",  "\xC3\xA4/\xF0\x9F\x98\x80", "a&b<c>\"d'",
               "?query=1&x", "#fragment", std::string(200, 'n')};
    }
    const auto joining = [](s3::upload_checksum sum) {
      auto o = options_of();
      o.copy_at_once = 10 * s3_behaviour::mega;
      o.upload_checksum = sum;
      return good(s3::client::create(o));
    };
    if (!is_versitygw()) {
      return {.client = *client,
              .bucket = bucket,
              .names = names,
              .joining = joining,
              .checksums = false,
              .conditional = false};
    }
    // Parts that it copies by a range have the checksum of the whole source.
    return {*client, bucket, names, joining, true, {s3::upload_checksum::none}};
  }
};

/// What moto does as the service does.
constexpr void (s3_behaviour::behaviour::*of_moto[])() const {
    &s3_behaviour::behaviour::odd_objects, &s3_behaviour::behaviour::ranges,
    &s3_behaviour::behaviour::metadata, &s3_behaviour::behaviour::listings,
    &s3_behaviour::behaviour::missing_buckets};

TEST_CASE("s3 server: what the verbs of S3 do", "[judges]") {
  using s3_behaviour::behaviour;
  for (const auto& each : s3_behaviour::all) {
    if (is_versitygw()
            ? each.run == &behaviour::joins
            : std::find(std::begin(of_moto), std::end(of_moto), each.run) == std::end(of_moto)) {
      continue;
    }
    DYNAMIC_SECTION(each.name) {
      const judged j;
      const behaviour play = j.behaviour();
      (play.*each.run)();
    }
  }
}

// moto ends an upload under any If-Match.
TEST_CASE("s3 server: writes under conditions that it does not keep are refused", "[lenient]") {
  const judged j;
  j.behaviour().unkept_conditions();
}

TEST_CASE("s3 server: what every feature does", "[judges]") {
  using store_features::features;
  for (const auto& each : store_features::all) {
    if (!is_versitygw() && each.run != &features::listing) continue;
    DYNAMIC_SECTION(each.name) {
      const judged j;
      const features play{
          *j.client, j.bucket,
          [&j](const std::string& name, const std::string& bytes) {
            good(j.client->insert(
                {.bucket = j.bucket, .object = name, .data = dataflux::as_bytes(bytes)}));
          },
          1'000};
      (play.*each.run)();
    }
  }
}

TEST_CASE("s3 server: a bucket with versions is used as one without", "[strict]") {
  const judged j;
  const s3_behaviour::behaviour o{*j.client, "judged-versions"};
  CHECK(good(j.client->run(dataflux::bucket_request{.bucket = o.bucket})).versioning);
  const auto first = good(o.put("o", content(10, 1), {.if_generation_match = 0}));
  const auto second = good(o.put("o", content(20, 2), {.if_generation_match = first.generation}));
  CHECK(o.bytes_of("o") == content(20, 2));
  CHECK(o.get({.object = "o", .generation = first.generation}).error().code() == errc::not_found);
  CHECK(good(j.client->list_page({.bucket = o.bucket})).objects.size() == 1);
  good(j.client->remove({.bucket = o.bucket, .object = "o", .generation = second.generation}));
  CHECK_FALSE(o.is_there("o"));
  CHECK(good(j.client->list_page({.bucket = o.bucket})).objects.empty());
  good(o.put("o", content(30, 3)));
  CHECK(o.bytes_of("o") == content(30, 3));
  good(j.client->remove({.bucket = o.bucket, .object = "o"}));
}

TEST_CASE("s3 server: keys that it does not know are refused, and no secret is told", "[strict]") {
  const judged j;
  const auto refusal = [&j](dataflux::access_keys keys) {
    const auto stranger =
        good(s3::client::create(options_of(good(dataflux::make_aws_keys(std::move(keys))))));
    CHECK_FALSE(stranger->insert({.bucket = j.bucket, .object = "o"}));
    const auto refused = stranger->list_page({.bucket = j.bucket}).error();
    CHECK(refused.to_string().find("testsecret") == std::string::npos);
    CHECK(refused.to_string().find("anothersecret") == std::string::npos);
    return refused;
  };
  const auto forged = refusal({.id = variable("AWS_ACCESS_KEY_ID"), .secret = "anothersecret"});
  CHECK(forged.code() == errc::unauthenticated);
  CHECK(forged.reason() == "SignatureDoesNotMatch");
  CHECK_FALSE(refusal({.id = "AKIDNOBODY", .secret = "anothersecret"}).reason().empty());
  const auto nobody = good(s3::client::create(options_of(dataflux::make_anonymous_credentials())));
  CHECK_FALSE(nobody->list_page({.bucket = j.bucket}));
}

TEST_CASE("s3 server: another region than was thought is found", "[strict]") {
  const judged j;
  auto o = options_of();
  o.region = "eu-central-1";
  const auto elsewhere = good(s3::client::create(o));
  const s3_behaviour::behaviour play{*elsewhere, j.bucket};
  const auto data = content(1000, 1);
  good(play.put("o", data));
  CHECK(play.bytes_of("o") == data);
  CHECK(elsewhere->totals().retries == 1);
}

TEST_CASE("s3 server: a clock that is an hour off is corrected", "[strict]") {
  for (const int hours : {-1, 1}) {
    INFO(hours << " hours");
    const judged j;
    seconds_ahead = hours * 3600;
    const s3_behaviour::behaviour play{*j.client, j.bucket};
    const auto made = play.put("o", content(10, 1));
    const auto again = play.put("o", content(20, 2));
    seconds_ahead = 0;
    good(made);
    good(again);
    CHECK(j.client->totals().retries == 1);
    CHECK(play.bytes_of("o") == content(20, 2));
  }
}

/// Exactly one of them won; which. The others were refused for it.
template <class Outcomes>
std::size_t winner_of(Outcomes& ends, errc refused) {
  std::vector<std::size_t> won;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto made = ends[i].take();
    if (made) {
      won.push_back(i);
    } else {
      INFO(made.error().to_string());
      CHECK(made.error().code() == refused);
    }
  }
  REQUIRE(won.size() == 1);
  return won[0];
}

TEST_CASE("s3 server: of eight writers one wins, in each round", "[strict]") {
  const judged j;
  const s3_behaviour::behaviour o{*j.client, j.bucket};
  for (int round = 0; round < 10; ++round) {
    INFO("round " << round);
    const std::string name = "race-" + std::to_string(round);
    std::vector<std::vector<std::byte>> data;
    for (std::size_t i = 0; i < 8; ++i) data.push_back(content(1000 + i, i));
    std::int64_t there = 0;
    // They create it, then they replace what is there.
    for (const errc refused : {errc::already_exists, errc::failed_precondition}) {
      std::vector<dataflux::operation<dataflux::object_metadata>> ends;
      for (const auto& each : data) {
        ends.push_back(j.client->submit_insert({.bucket = j.bucket,
                                                .object = name,
                                                .data = each,
                                                .conditions = {.if_generation_match = there}}));
      }
      const auto won = winner_of(ends, refused);
      CHECK((o.bytes_of(name) == data[won]));
      // Bytes that were there already are the same generation.
      good(o.put(name, content(50, 1)));
      there = good(j.client->stat({.bucket = j.bucket, .object = name})).generation;
    }
  }
}

TEST_CASE("s3 server: of eight uploads that end at once one wins, in each round", "[strict]") {
  const judged j;
  const s3_behaviour::behaviour o{*j.client, j.bucket};
  for (int round = 0; round < 5; ++round) {
    INFO("round " << round);
    const std::string name = "race-" + std::to_string(round);
    std::vector<dataflux::multipart_complete_request> uploads;
    for (std::size_t i = 0; i < 8; ++i) {
      const auto data = content(1000 + i, i);
      auto begun = good(
          j.client->run(dataflux::multipart_initiate_request{.bucket = j.bucket, .object = name}));
      uploads.push_back(
          {.bucket = j.bucket,
           .object = name,
           .upload_id = begun.upload_id,
           .parts = {good(j.client->run(dataflux::upload_part_request{.bucket = j.bucket,
                                                                      .object = name,
                                                                      .upload_id = begun.upload_id,
                                                                      .part_number = 1,
                                                                      .data = data}))},
           .mark = begun.mark,
           .conditions = {.if_generation_match = 0}});
    }
    std::vector<dataflux::operation<dataflux::object_metadata>> ends;
    for (const auto& each : uploads) ends.push_back(j.client->submit(each));
    const auto won = winner_of(ends, errc::already_exists);
    CHECK((o.bytes_of(name) == content(1000 + won, won)));
    CHECK(o.open_uploads() == 7);
    for (const auto& each : uploads) {
      const auto gone = j.client->run(dataflux::multipart_abort_request{
          .bucket = j.bucket, .object = name, .upload_id = each.upload_id});
      if (each.upload_id != uploads[won].upload_id) CHECK(gone);
    }
    CHECK(o.open_uploads() == 0);
  }
}

TEST_CASE("s3 server: keys of a role", "[sts]") {
  const temporary_folder folder;
  const std::string config = folder.path / "config";
  std::ofstream(config) << "[profile job]\n"
                           "role_arn = arn:aws:iam::123456789012:role/trainer\n"
                           "role_session_name = judged\n"
                           "source_profile = own\n"
                           "[profile own]\n"
                           "aws_access_key_id = "
                        << variable("AWS_ACCESS_KEY_ID")
                        << "\naws_secret_access_key = " << variable("AWS_SECRET_ACCESS_KEY")
                        << "\n";
  REQUIRE(setenv("AWS_CONFIG_FILE", config.c_str(), 1) == 0);
  REQUIRE(setenv("AWS_SHARED_CREDENTIALS_FILE", config.c_str(), 1) == 0);
  REQUIRE(setenv("AWS_ENDPOINT_URL_STS", variable("AWS_ENDPOINT_URL_S3").c_str(), 1) == 0);
  const auto found = good(dataflux::find_aws_credentials({.profile = "job"}));
  CHECK(found.credentials->facts().kind == "aws_role");
  const judged j;
  const auto client = good(s3::client::create(options_of(found.credentials)));
  const s3_behaviour::behaviour play{*client, j.bucket};
  good(play.put("o", content(10, 1)));
  CHECK(play.bytes_of("o") == content(10, 1));
}

}  // namespace
