#include <dataflux/codec/crc32c.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace verbs_test {

// The verbs that only gcs::client has, and what becomes of writes whose reply is lost.
namespace {

using namespace std::chrono_literals;
using dataflux::as_bytes;
using dataflux::errc;
using dataflux::object_metadata;
using dataflux::result;
namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;

std::string pattern(std::size_t size, unsigned seed) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    out[i] = static_cast<char>((i * 2654435761U + seed) >> 13U);
  }
  return out;
}
std::uint32_t crc_of(const std::string& text) { return dataflux::crc32c(as_bytes(text)); }

/// Hears all that an observer is told.
class listener final : public dataflux::observer {
 public:
  void on_log(dataflux::log_level, std::string_view line) noexcept override { keep(line); }
  void on_retry(const dataflux::retry_event& e) noexcept override { keep(e.cause->to_string()); }
  void on_request(const dataflux::request_event& e) noexcept override {
    keep(e.verb);
    keep(e.object);
  }
  std::string text() const {
    const std::scoped_lock lock(mutex_);
    return text_;
  }

 private:
  void keep(std::string_view what) {
    const std::scoped_lock lock(mutex_);
    text_.append(what).append("\n");
  }
  mutable std::mutex mutex_{};
  std::string text_{};
};

struct harness {
  explicit harness(dataflux::observer* watcher = nullptr) {
    server.create_bucket("bkt");
    gcs::client_options o{.endpoint = server.endpoint(), .emulator = true, .observer = watcher};
    o.retry = {.max_attempts = 4, .first = 1ms, .cap = 5ms};
    o.stall_timeout = 150ms;
    o.first_byte_timeout = 150ms;
    o.complete_timeout = 150ms;
    o.transport.io_threads = 1;
    client = gcs::client::create(o).value();
  }
  object_metadata put(const std::string& name, const std::string& bytes) {
    return client->insert({.bucket = "bkt", .object = name, .data = as_bytes(bytes)}).value();
  }
  void lose_reply(const char* verb, std::uint64_t nth = 1) {
    server.faults().add({.verb = verb, .from = nth, .action = fault::lose_reply{}});
  }
  dataflux::resumable_session begin(const std::string& object,
                                    dataflux::preconditions conditions = {}) {
    auto session = client->run(dataflux::resumable_start_request{
        .bucket = "bkt", .object = object, .conditions = conditions});
    INFO((session ? std::string() : session.error().to_string()));
    REQUIRE(session);
    return *session;
  }

  emulator::server server{};
  std::shared_ptr<gcs::client> client{};
};

template <class T>
void require_ok(const result<T>& r) {
  INFO((r ? std::string() : r.error().to_string()));
  REQUIRE(r);
}

constexpr std::size_t quantum = dataflux::resumable_quantum;

}  // namespace

TEST_CASE("client: patch changes what it names", "[integration]") {
  harness h;
  const auto made = h.put("o", "bytes");
  dataflux::patch_request r{.bucket = "bkt",
                            .object = "o",
                            .content_type = "text/plain",
                            .cache_control = "no-store",
                            .metadata = {{"a", "1"}, {"b", "2"}},
                            .conditions = {.if_metageneration_match = 1}};
  const auto first = h.client->run(r);
  require_ok(first);
  CHECK(first->generation == made.generation);
  CHECK(first->metageneration == 2);
  CHECK(first->content_type == "text/plain");
  CHECK(first->cache_control == "no-store");
  // The mark of the insert is still there, and not shown.
  CHECK(first->metadata == decltype(first->metadata){{"a", "1"}, {"b", "2"}});
  CHECK(first->upload_mark == made.upload_mark);
  const auto stale = h.client->run(r);
  REQUIRE_FALSE(stale);
  CHECK(stale.error().code() == errc::failed_precondition);
  r = {.bucket = "bkt", .object = "o", .cache_control = "", .metadata = {{"a", std::nullopt}}};
  const auto second = h.client->run(r);
  require_ok(second);
  CHECK(second->cache_control.empty());
  CHECK(second->content_type == "text/plain");
  CHECK(second->metadata == decltype(second->metadata){{"b", "2"}});
}

TEST_CASE("client: rewrite copies to the end, in as many requests as it takes", "[integration]") {
  harness h;
  h.server.create_bucket("other");
  const std::string bytes = pattern(5 << 20, 3);
  h.put("large", bytes);
  dataflux::rewrite_request r{.source_bucket = "bkt",
                              .source = "large",
                              .bucket = "other",
                              .object = "copy",
                              .attributes = {.storage_class = "NEARLINE"},
                              .max_bytes_per_request = 1 << 20,
                              .conditions = {.if_generation_match = 0}};
  const auto copy = h.client->run(r);
  require_ok(copy);
  CHECK(copy->size == bytes.size());
  CHECK(copy->crc32c == crc_of(bytes));
  CHECK(copy->storage_class == "NEARLINE");
  CHECK(h.server.get("other", "copy") == bytes);
  const auto again = h.client->run(r);
  REQUIRE_FALSE(again);
  CHECK(again.error().code() == errc::already_exists);
  // A break in the middle costs one request, not the copy.
  r.object = "copy 2";
  r.conditions = {};
  h.server.faults().add({.verb = "objects.rewrite", .from = 3, .action = fault::cut{}});
  const auto broken = h.client->run(r);
  require_ok(broken);
  CHECK(h.server.faults().hits() == 1);
  CHECK(h.server.get("other", "copy 2") == bytes);
}

TEST_CASE("client: what a bucket is", "[integration]") {
  harness h;
  const auto bucket = h.client->run(dataflux::bucket_request{.bucket = "bkt"});
  require_ok(bucket);
  CHECK(bucket->name == "bkt");
  CHECK_FALSE(bucket->hierarchical);
  const auto layout = h.client->run(dataflux::storage_layout_request{.bucket = "bkt"});
  require_ok(layout);
  CHECK(layout->kind == dataflux::bucket_kind::flat);
  const auto granted = h.client->run(dataflux::test_permissions_request{
      .bucket = "bkt", .permissions = {"storage.objects.get", "storage.objects.list"}});
  require_ok(granted);
  CHECK(granted->size() == 2);
  const auto none = h.client->run(dataflux::bucket_request{.bucket = "no-such-bucket"});
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == errc::not_found);
  CHECK(none.error().bucket() == "no-such-bucket");
}

TEST_CASE("client: a project's buckets, by the page and all", "[integration]") {
  harness h;
  for (const char* name : {"data-1", "data-2", "data-3"}) h.server.create_bucket(name);
  const auto page = h.client->run(dataflux::list_buckets_request{.project = "p", .max_results = 2});
  require_ok(page);
  REQUIRE(page->buckets.size() == 2);
  CHECK(page->buckets[0].name == "bkt");
  CHECK(page->buckets[0].location == "US");
  CHECK(page->buckets[0].created);
  const auto next = h.client->run(
      dataflux::list_buckets_request{.project = "p", .page_token = page->next_page_token});
  require_ok(next);
  CHECK(next->buckets.size() == 2);
  CHECK(next->next_page_token.empty());
  // One bucket a page, and the second page fails once: it alone is asked for again.
  h.server.faults().add({.verb = "buckets.list", .from = 2, .action = fault::cut{}});
  h.server.faults().add({.verb = "buckets.list", .count = 0, .action = fault::short_page{1}});
  const std::size_t before = h.server.log().size();
  const auto all =
      h.client->run(dataflux::list_all_buckets_request{.project = "p", .prefix = "data-"});
  require_ok(all);
  REQUIRE(all->size() == 3);
  CHECK((*all)[2].name == "data-3");
  CHECK(h.server.log().size() == before + 4);
  // Nobody's project: nothing is sent.
  const auto whose = h.client->run(dataflux::list_all_buckets_request{});
  REQUIRE_FALSE(whose);
  CHECK(whose.error().code() == errc::invalid_argument);
  CHECK(whose.error().verb() == "buckets.list");
  CHECK(h.server.log().size() == before + 4);
}

TEST_CASE("client: listings match globs", "[integration]") {
  harness h;
  for (const char* name : {"a/1.tar", "a/2.txt", "a/b/3.tar"}) h.put(name, "x");
  const auto flat = h.client->list_page({.bucket = "bkt", .match_glob = "a/*.tar"});
  require_ok(flat);
  REQUIRE(flat->objects.size() == 1);
  CHECK(flat->objects.name(0) == "a/1.tar");
  const auto deep = h.client->list_page({.bucket = "bkt", .match_glob = "a/**.tar"});
  require_ok(deep);
  CHECK(deep->objects.size() == 2);
}

TEST_CASE("client: each call has one id on all its attempts", "[integration]") {
  harness h;
  h.put("o", "x");
  const std::size_t before = h.server.log().size();
  h.server.faults().add({.verb = "objects.get", .count = 2, .action = fault::send{.status = 503}});
  require_ok(h.client->stat({.bucket = "bkt", .object = "o"}));
  require_ok(h.client->stat({.bucket = "bkt", .object = "o"}));
  const auto log = h.server.log();
  REQUIRE(log.size() == before + 4);
  const auto id = [&](std::size_t i) {
    const std::string_view telemetry = log[before + i].header("x-goog-api-client");
    return telemetry.substr(std::min(telemetry.find("gccl-invocation-id/"), telemetry.size()));
  };
  CHECK(id(0).size() == 19 + 36);
  CHECK(id(1) == id(0));
  CHECK(id(2) == id(0));
  CHECK(id(3).size() == id(0).size());
  CHECK(id(3) != id(0));
}

TEST_CASE("client: a resumable upload of several chunks", "[integration]") {
  harness h;
  const std::string bytes = pattern(3 * quantum + 77, 5);
  const auto whole = as_bytes(bytes);
  const auto session = h.begin("stream", {.if_generation_match = 0});
  std::uint64_t at = 0;
  for (int i = 0; i < 3; ++i) {
    const auto kept = h.client->run(dataflux::resumable_chunk_request{
        .session = session, .offset = at, .data = whole.subspan(at, quantum)});
    require_ok(kept);
    at += quantum;
    CHECK(kept->persisted == at);
    CHECK_FALSE(kept->object);
    const auto status = h.client->run(dataflux::resumable_status_request{.session = session});
    require_ok(status);
    CHECK(status->persisted == at);
  }
  CHECK_FALSE(h.server.get("bkt", "stream"));
  // Another process goes on with the URL alone.
  const auto resumed = dataflux::resumable_session::from_url(session.url(), "bkt", "stream");
  require_ok(resumed);
  const auto done = h.client->run(dataflux::resumable_chunk_request{.session = *resumed,
                                                                    .offset = at,
                                                                    .data = whole.subspan(at),
                                                                    .last = true,
                                                                    .crc32c = crc_of(bytes)});
  require_ok(done);
  REQUIRE(done->object);
  CHECK(done->object->size == bytes.size());
  CHECK(done->object->crc32c == crc_of(bytes));
  CHECK(h.server.get("bkt", "stream") == bytes);
  const auto after = h.client->run(dataflux::resumable_status_request{.session = session});
  require_ok(after);
  REQUIRE(after->object);
  CHECK(after->object->generation == done->object->generation);
}

TEST_CASE("client: resumable uploads of nothing, and with a wrong checksum", "[integration]") {
  harness h;
  const auto empty = h.client->run(
      dataflux::resumable_chunk_request{.session = h.begin("empty"), .last = true, .crc32c = 0});
  require_ok(empty);
  REQUIRE(empty->object);
  CHECK(h.server.get("bkt", "empty") == "");
  const std::string bytes = pattern(1000, 1);
  const auto wrong = h.client->run(dataflux::resumable_chunk_request{.session = h.begin("wrong"),
                                                                     .data = as_bytes(bytes),
                                                                     .last = true,
                                                                     .crc32c = crc_of(bytes) + 1});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code() == errc::data_loss);
  CHECK_FALSE(h.server.get("bkt", "wrong"));
}

TEST_CASE("client: a resumable upload's condition is judged at its end", "[integration]") {
  harness h;
  const auto session = h.begin("o", {.if_generation_match = 0});
  h.put("o", "somebody else's");
  const auto late = h.client->run(dataflux::resumable_chunk_request{
      .session = session, .data = as_bytes("mine"), .last = true});
  REQUIRE_FALSE(late);
  CHECK(late.error().http_status() == 412);
  CHECK(h.server.get("bkt", "o") == "somebody else's");
}

TEST_CASE("client: a cancelled upload is over", "[integration]") {
  harness h;
  const auto session = h.begin("o");
  require_ok(h.client->run(dataflux::resumable_cancel_request{.session = session}));
  const auto late = h.client->run(dataflux::resumable_chunk_request{
      .session = session, .data = as_bytes("mine"), .last = true});
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == errc::not_found);
  CHECK(late.error().object() == "o");
  CHECK_FALSE(h.server.get("bkt", "o"));
}

TEST_CASE("client: a chunk survives what happens to it, and no secret is told", "[integration]") {
  const std::string bytes = pattern(4 * quantum + 5, 7);
  const std::vector<std::pair<const char*, fault::action>> faults{
      {"503", fault::send{.status = 503}},
      {"408", fault::send{.status = 408}},
      {"429", fault::send{.status = 429}},
      {"reset", fault::cut{}},
      {"reply lost", fault::lose_reply{}},
      {"half a reply", fault::cut{.where = fault::point::in_body, .body_bytes = 20}},
      {"stall", fault::stall{}},
      {"one quantum kept", fault::keep_less{.bytes = quantum}},
      {"nothing kept", fault::keep_less{.bytes = 0}},
  };
  listener watcher;
  for (const bool last : {false, true}) {
    for (const auto& [name, action] : faults) {
      INFO(name << (last ? ", last chunk" : ", first chunk"));
      harness h(&watcher);
      const auto session = h.begin("o", {.if_generation_match = 0});
      const auto half = as_bytes(bytes).first(2 * quantum);
      h.server.faults().add({.verb = "resumable.chunk", .from = last ? 2U : 1U, .action = action});
      const auto first =
          h.client->run(dataflux::resumable_chunk_request{.session = session, .data = half});
      require_ok(first);
      CHECK(first->persisted == half.size());
      const auto done = h.client->run(
          dataflux::resumable_chunk_request{.session = session,
                                            .offset = half.size(),
                                            .data = as_bytes(bytes).subspan(half.size()),
                                            .last = true,
                                            .crc32c = crc_of(bytes)});
      require_ok(done);
      CHECK(h.server.faults().hits() == 1);
      CHECK(h.server.get("bkt", "o") == bytes);
      const std::string url = session.url();
      const std::string id = url.substr(url.find("upload_id=") + 10);
      CHECK(id.size() > 8);
      CHECK(watcher.text().find(id) == std::string::npos);
      // What the service says of a session may show its URL, too.
      h.server.faults().clear();
      h.server.faults().add({.count = 0,
                             .action = fault::send{.status = 400,
                                                   .body = "no session " + id + " at " + url,
                                                   .headers = {{"X-GUploader-UploadID", id}}}});
      const auto refused = h.client->run(dataflux::resumable_status_request{.session = session});
      REQUIRE_FALSE(refused);
      CHECK(refused.error().to_string().find(id) == std::string::npos);
    }
  }
}

TEST_CASE("client: a chunk that never gets through ends in an error", "[integration]") {
  harness h;
  const auto session = h.begin("o");
  h.server.faults().add(
      {.verb = "resumable.chunk", .count = 0, .action = fault::send{.status = 503}});
  const auto failed = h.client->run(dataflux::resumable_chunk_request{
      .session = session, .data = as_bytes("mine"), .last = true, .limits = {.timeout = 20s}});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == errc::unavailable);
}

namespace {

/// A write whose reply is lost, with or without the condition that allows a repetition.
struct lost_write {
  const char* name;
  const char* verb;
  std::function<result<object_metadata>(harness&, bool conditional)> run;
};

const std::string ours = pattern(1000, 11);

const std::vector<lost_write> lost_writes{
    {"insert", "objects.insert",
     [](harness& h, bool conditional) {
       dataflux::insert_request r{.bucket = "bkt", .object = "new", .data = as_bytes(ours)};
       if (conditional) r.conditions.if_generation_match = 0;
       return h.client->run(r);
     }},
    {"compose", "objects.compose",
     [](harness& h, bool conditional) {
       dataflux::compose_request r{.bucket = "bkt", .object = "new", .sources = {{"source"}}};
       if (conditional) r.conditions.if_generation_match = 0;
       return h.client->run(r);
     }},
    {"move", "objects.move",
     [](harness& h, bool conditional) {
       dataflux::move_request r{
           .bucket = "bkt", .source = "source", .object = "new", .crc32c = crc_of(ours)};
       if (conditional) r.conditions.if_generation_match = 0;
       return h.client->run(r);
     }},
    {"rewrite", "objects.rewrite",
     [](harness& h, bool conditional) {
       dataflux::rewrite_request r{
           .source_bucket = "bkt", .source = "source", .bucket = "bkt", .object = "new"};
       if (conditional) r.conditions.if_generation_match = 0;
       return h.client->run(r);
     }},
};

}  // namespace

TEST_CASE("client: a write whose reply is lost is found, once", "[integration]") {
  for (const auto& write : lost_writes) {
    for (const bool conditional : {true, false}) {
      INFO(write.name << (conditional ? " with" : " without") << " a condition");
      harness h;
      h.put("source", ours);
      h.lose_reply(write.verb, 1);
      const auto made = write.run(h, conditional);
      require_ok(made);
      CHECK(h.server.faults().hits() == 1);
      CHECK(h.server.get("bkt", "new") == ours);
      const auto now = h.client->stat({.bucket = "bkt", .object = "new"});
      require_ok(now);
      CHECK(now->generation == made->generation);
    }
  }
}

TEST_CASE("client: another writer's equal object is not taken for one's own", "[integration]") {
  for (const auto& write : lost_writes) {
    if (std::string_view(write.name) == "rewrite" || std::string_view(write.name) == "move") {
      continue;  // nothing of their own is in what they make
    }
    INFO(write.name);
    harness h;
    h.put("source", ours);
    h.put("new", ours);
    // The request does not get through, and the repetition finds that somebody was first.
    h.server.faults().add({.verb = write.verb, .action = fault::cut{}});
    const auto refused = write.run(h, true);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::already_exists);
  }
}

TEST_CASE("client: a move that was not carried out is not reported as done", "[integration]") {
  harness h;
  h.put("source", ours);
  h.put("new", ours);
  h.server.faults().add({.verb = "objects.move", .action = fault::cut{}});
  const auto refused = lost_writes[2].run(h, true);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::already_exists);
  CHECK(h.server.get("bkt", "source") == ours);
}

TEST_CASE("client: a patch whose reply is lost is seen in the metadata", "[integration]") {
  for (const bool conditional : {true, false}) {
    harness h;
    h.put("o", ours);
    h.lose_reply("objects.patch");
    dataflux::patch_request r{.bucket = "bkt", .object = "o", .metadata = {{"a", "1"}}};
    if (conditional) r.conditions.if_metageneration_match = 1;
    const auto patched = h.client->run(r);
    require_ok(patched);
    CHECK(patched->metageneration == 2);
    CHECK(h.server.faults().hits() == 1);
  }
}

TEST_CASE("client: an upload completed without a reply is found by its mark", "[integration]") {
  harness h;
  const auto upload =
      h.client->run(dataflux::multipart_initiate_request{.bucket = "bkt", .object = "o"}).value();
  CHECK(upload.mark.size() == 32);
  const auto part = h.client
                        ->run(dataflux::upload_part_request{.bucket = "bkt",
                                                            .object = "o",
                                                            .upload_id = upload.upload_id,
                                                            .part_number = 1,
                                                            .data = as_bytes(ours)})
                        .value();
  h.lose_reply("multipart.complete");
  const auto done =
      h.client->run(dataflux::multipart_complete_request{.bucket = "bkt",
                                                         .object = "o",
                                                         .upload_id = upload.upload_id,
                                                         .parts = {part},
                                                         .mark = upload.mark});
  require_ok(done);
  CHECK(done->upload_mark == upload.mark);
  CHECK(done->crc32c == crc_of(ours));
}

TEST_CASE("client: a bulk restore ends when the service is done, and asks again after a failure",
          "[integration]") {
  harness h;
  h.server.service().store().configure(
      "bkt", {}, [](auto& settings) { settings.soft_delete = std::chrono::hours(1); });
  h.put("a", "one");
  require_ok(h.client->run(dataflux::remove_request{.bucket = "bkt", .object = "a"}));
  h.server.faults().add({.verb = "operations.get", .action = fault::refuse{503}});
  const auto done = h.client->run(dataflux::bulk_restore_request{.bucket = "bkt"});
  require_ok(done);
  CHECK(done->restored == 1);
  CHECK(h.server.counters().of("objects.bulkRestore") == 1);
  CHECK(h.server.counters().of("operations.get") == 3);
  CHECK(h.client->stat({.bucket = "bkt", .object = "a"}));

  h.server.faults().add({.verb = "operations.get",
                         .count = 0,
                         .action = fault::send{.status = 200,
                                               .body = R"({"name":"x/operations/none"})",
                                               .content_type = "application/json"}});
  const auto other = h.client->run(dataflux::bulk_restore_request{.bucket = "bkt"});
  REQUIRE_FALSE(other);
  CHECK(other.error().code() == errc::internal);
}

TEST_CASE("client: a bulk restore that takes longer than its limit says so", "[integration]") {
  harness h;
  h.server.service().store().configure(
      "bkt", {}, [](auto& settings) { settings.soft_delete = std::chrono::hours(1); });
  const auto late =
      h.client->run(dataflux::bulk_restore_request{.bucket = "bkt", .limits = {.timeout = 50ms}});
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == errc::deadline_exceeded);
  CHECK(late.error().verb() == "objects.bulkRestore");
}

}  // namespace verbs_test
