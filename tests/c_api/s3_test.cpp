#include <c_api/saving.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace c_api_s3_test {
// Every call of the ABI on a client of S3; what the client's options are.

using namespace c_api_test;

namespace {

emulator::server_options serving_s3() {
  emulator::server_options o{.threads = 1};
  o.service.s3.emplace();
  return o;
}

struct s3_world {
  s3_world() : server(serving_s3()) {
    server.create_bucket("bkt");
    client = world::make_client(options());
  }
  dataflux_client_options options() const {
    static const emulator::s3::options known{};
    dataflux_client_options o;
    dataflux_client_options_init(&o, sizeof o);
    o.service = DATAFLUX_SERVICE_S3;
    o.endpoint = server.endpoint().c_str();
    o.region = known.region.c_str();
    o.access_key_id = known.access_key.c_str();
    o.secret_access_key = known.secret_key.c_str();
    return o;
  }

  emulator::server server;
  client_ptr client{};
};

}  // namespace

TEST_CASE("dataflux_client of S3: objects are written, read, listed and removed", "[c_api]") {
  s3_world w;
  told why;
  REQUIRE(world::put(w.client, "o/1", "first", why) == DATAFLUX_OK);
  REQUIRE(world::put(w.client, "o/2", "second", why) == DATAFLUX_OK);
  const queue_ptr queue = make_queue();
  const auto o = world::object("o/2");
  REQUIRE(dataflux_get(w.client.get(), &o, 0, UINT64_MAX, queue.get(), 1, nullptr, why) ==
          DATAFLUX_OK);
  const auto got = next(queue);
  REQUIRE(got.size() == 1);
  CHECK(bytes_of(got[0]) == "second");
  release(got);

  dataflux_list_options l;
  dataflux_list_options_init(&l, sizeof l);
  l.bucket = "bkt";
  l.prefix = "o/";
  operation_ptr listed;
  REQUIRE(outcome([&](auto out,
                      auto err) { return dataflux_list(w.client.get(), &l, nullptr, 0, out, err); },
                  why, &listed) == DATAFLUX_OK);
  dataflux_listing* taken = nullptr;
  REQUIRE(dataflux_operation_take_listing(listed.get(), &taken, why) == DATAFLUX_OK);
  const listing_ptr listing(taken);

  dataflux_get_many_options m;
  dataflux_get_many_options_init(&m, sizeof m);
  m.bucket = "bkt";
  dataflux_getter* getter = nullptr;
  REQUIRE(dataflux_get_many(w.client.get(), &m, listing.get(), nullptr, 0, queue.get(), 2, &getter,
                            why) == DATAFLUX_OK);
  const getter_ptr owner(getter);
  std::string all;
  for (bool ended = false; !ended;) {
    const auto records = next(queue);
    for (const auto& r : records) {
      all += bytes_of(r);
      ended = ended || (r.flags & DATAFLUX_RECORD_END) != 0;
    }
    release(records);
  }
  CHECK(all == "firstsecond");

  const auto gone = [&] {
    return outcome(
        [&](auto out, auto err) {
          return dataflux_remove(w.client.get(), &o, nullptr, 0, out, err);
        },
        why);
  };
  CHECK(gone() == DATAFLUX_OK);
  CHECK(outcome([&](auto out,
                    auto err) { return dataflux_stat(w.client.get(), &o, nullptr, 0, out, err); },
                why) == DATAFLUX_NOT_FOUND);
  INFO(why.text());
  CHECK(has(why.text(), " of s3://bkt/o/2"));
  CHECK(std::string_view(dataflux_error_scheme(why.get())) == "s3");
  CHECK(std::string_view(dataflux_error_scheme(nullptr)).empty());
}

TEST_CASE("dataflux_client of S3: a writer's object appears whole", "[c_api]") {
  s3_world w;
  auto o = writer_of("large");
  o.part_size = least_part;
  const writer_ptr writer = take_writer(open_writer(w.client, o));
  const std::string body(2 * least_part + 7, 'b');
  told why;
  std::size_t taken = 0;
  REQUIRE(dataflux_writer_write(writer.get(), body.data(), body.size(), -1, &taken, why) ==
          DATAFLUX_OK);
  REQUIRE(taken == body.size());
  const auto made = ended([&](auto queue, auto tag, auto op, auto err) {
    return dataflux_writer_commit(writer.get(), queue, tag, op, err);
  });
  CHECK(has(json_of(made), "large"));
  const auto where = world::object("large");
  std::string back(body.size(), '\0');
  CHECK(outcome(
            [&](auto out, auto err) {
              return dataflux_get_one(w.client.get(), &where, 0, back.data(), back.size(), nullptr,
                                      0, out, err);
            },
            why) == DATAFLUX_OK);
  CHECK(back == body);
}

TEST_CASE("dataflux_client of S3: what it lacks is unimplemented, and says so", "[c_api]") {
  s3_world w;
  told why;
  const auto o = world::object("o");
  dataflux_attributes a;
  dataflux_attributes_init(&a, sizeof a);
  a.content_type = "text/plain";
  CHECK(outcome(
            [&](auto out, auto err) {
              return dataflux_patch(w.client.get(), &o, &a, nullptr, 0, out, err);
            },
            why) == DATAFLUX_UNIMPLEMENTED);
  CHECK(has(why.message(), "S3"));
  CHECK(dataflux_client_set_token(w.client.get(), "t", 0, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(dataflux_client_fail_token(w.client.get(), DATAFLUX_UNAUTHENTICATED, "m", why) ==
        DATAFLUX_FAILED_PRECONDITION);
}

TEST_CASE("dataflux_compose on S3: it is made by an upload, and misses its sources", "[c_api]") {
  s3_world w;
  told why;
  const auto o = world::object("o");
  const char* const names[] = {"a", "b"};
  CHECK(outcome(
            [&](auto out, auto err) {
              return dataflux_compose(w.client.get(), &o, names, nullptr, 2, nullptr, nullptr, 0,
                                      out, err);
            },
            why) == DATAFLUX_NOT_FOUND);
}

TEST_CASE("dataflux_client of S3: options of the other service are refused by name", "[c_api]") {
  s3_world w;
  told why;
  const auto refused = [&](auto change, std::string_view name) {
    auto o = w.options();
    change(o);
    CHECK(world::created(o, why) == DATAFLUX_INVALID_ARGUMENT);
    INFO(why.message());
    CHECK(has(why.message(), name));
  };
  refused([](auto& o) { o.service = 3; }, "service");
  refused([](auto& o) { o.addressing = 3; }, "addressing");
  refused([](auto& o) { o.upload_checksum = 3; }, "upload_checksum");
  refused([](auto& o) { o.emulator = 1; }, "emulator");
  refused([](auto& o) { o.user_project = "p"; }, "user_project");
  refused([](auto& o) { o.quota_project = "p"; }, "quota_project");
  refused([](auto& o) { o.credentials_file = "/f"; }, "credentials_file");
  refused([](auto& o) { o.credentials = DATAFLUX_CREDENTIALS_TOKEN; }, "credentials");
  refused([](auto& o) { o.credentials = DATAFLUX_CREDENTIALS_ANONYMOUS; }, "anonymous");
  refused([](auto& o) { o.secret_access_key = nullptr; }, "secret_access_key");
  refused([](auto& o) { o.access_key_id = nullptr; }, "access_key_id");
  refused([](auto& o) { o.access_key_id = "line\nbreak"; }, "key");
  refused([](auto& o) { o.region = "no region"; }, "region");
  refused([](auto& o) { o.endpoint = "ftp://host"; }, "ftp");
  const auto of_gcs = [&](auto change, std::string_view name) {
    const world gcs;
    auto o = gcs.options();
    change(o);
    CHECK(world::created(o, why) == DATAFLUX_INVALID_ARGUMENT);
    INFO(why.message());
    CHECK(has(why.message(), name));
  };
  of_gcs([](auto& o) { o.region = "us-east-1"; }, "region");
  of_gcs([](auto& o) { o.addressing = 1; }, "addressing");
  of_gcs([](auto& o) { o.access_key_id = "k"; }, "access_key_id");
  of_gcs([](auto& o) { o.session_token = "t"; }, "session_token");
  of_gcs([](auto& o) { o.requester_pays = 1; }, "requester_pays");
}

TEST_CASE("dataflux_client of S3: keys are copied, and told nowhere", "[c_api]") {
  s3_world w;
  std::string secret = emulator::s3::options{}.secret_key;
  std::string wrong(secret.size(), 'w');
  auto o = w.options();
  o.secret_access_key = wrong.c_str();
  o.event_capacity = 100;
  const client_ptr client = world::make_client(o);
  const std::string kept = wrong;
  wrong.assign(wrong.size(), '-');
  told why;
  const auto at = world::object("o");
  CHECK(outcome([&](auto out,
                    auto err) { return dataflux_stat(client.get(), &at, nullptr, 0, out, err); },
                why) == DATAFLUX_UNAUTHENTICATED);
  CHECK_FALSE(has(why.text(), kept));
  char* metrics = nullptr;
  REQUIRE(dataflux_client_metrics(client.get(), &metrics, why) == DATAFLUX_OK);
  CHECK(has(metrics, "HeadObject"));
  CHECK_FALSE(has(metrics, kept));
  dataflux_text_free(metrics);
  // The right one is not what the caller has made of its memory since.
  o = w.options();
  o.secret_access_key = secret.c_str();
  w.client = world::make_client(o);
  secret.assign(secret.size(), '-');
  CHECK(world::put(w.client, "o", "1", why) == DATAFLUX_OK);
}

TEST_CASE("dataflux_client of S3: without keys nothing is signed", "[c_api]") {
  s3_world w;
  auto o = w.options();
  o.access_key_id = o.secret_access_key = nullptr;
  o.credentials = DATAFLUX_CREDENTIALS_ANONYMOUS;
  w.client = world::make_client(o);
  told why;
  CHECK(world::put(w.client, "o", "1", why) == DATAFLUX_PERMISSION_DENIED);
}

}  // namespace c_api_s3_test
