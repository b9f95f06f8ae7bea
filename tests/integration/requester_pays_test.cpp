#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/verb_driver.hpp>

#include <chrono>
#include <string>

namespace requester_pays_test {

namespace gcs = dataflux::gcs;

TEST_CASE("client: every verb names who pays", "[integration]") {
  emulator::server server{{}};
  const auto plain = gcs::client::create(quick_options(server, std::chrono::seconds(30))).value();
  auto paying_options = quick_options(server, std::chrono::seconds(30));
  paying_options.user_project = "payer";
  const auto paying = gcs::client::create(paying_options).value();
  int number = 0;
  for (const verb_driver& verb : verb_drivers()) {
    CAPTURE(verb.name());
    // They are about no bucket.
    if (verb.verb == "iam.signBlob" || verb.verb == "metadata.email") continue;
    stage s = set_stage(server, *plain, *plain, verb, "pays-" + std::to_string(number++));
    server.service().store().configure(
        s.bucket, {}, [](emulator::bucket_settings& settings) { settings.requester_pays = true; });
    const auto refused = verb.run(s);
    // A listing of buckets is paid for by its project.
    REQUIRE(refused.failure.has_value() == (verb.verb != "buckets.list"));
    if (refused.failure) {
      CHECK(refused.failure->http_status() == 400);
      CHECK(refused.failure->to_string().find("user_project") != std::string::npos);
    }

    stage paid{server, *paying, s.bucket,  s.generation, s.upload_id,
               s.mark, s.part,  s.session, s.moves};
    const auto done = verb.run(paid);
    INFO((done.failure ? done.failure->to_string() : done.wrong));
    CHECK_FALSE(done.failure);
    CHECK(done.wrong.empty());
  }
}

}  // namespace requester_pays_test
