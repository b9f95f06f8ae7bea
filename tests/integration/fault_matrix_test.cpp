#include <dataflux/codec/crc32c.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

// Every verb under every fault: what the caller gets is right or a clear error, and what the store
// holds afterwards is the old object or the new one, never anything else.
namespace {

using namespace std::chrono_literals;
using dataflux::errc;
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

const std::string old_bytes = pattern(100000, 1);
const std::string new_bytes = pattern(150000, 2);
constexpr const char* object = "folder/object \xc3\xa4.bin";

/// Collects what observers are told, in search of secrets.
class listener final : public dataflux::observer {
 public:
  void on_log(dataflux::log_level, std::string_view line) noexcept override { keep(line); }
  void on_retry(const dataflux::retry_event& e) noexcept override {
    keep(e.cause->to_string());
    ++retries;
  }
  void on_request(const dataflux::request_event& e) noexcept override {
    keep(e.verb);
    keep(e.object);
  }
  std::string text() const {
    const std::scoped_lock lock(mutex_);
    return text_;
  }
  std::atomic<int> retries{0};

 private:
  void keep(std::string_view what) {
    const std::scoped_lock lock(mutex_);
    text_.append(what).append("\n");
  }
  mutable std::mutex mutex_{};
  std::string text_{};
};

struct world {
  emulator::server& server;
  gcs::client& client;
  std::string bucket;
  std::int64_t generation{0};  ///< of the old object
  std::string upload_id{};
  dataflux::uploaded_part part{};

  std::optional<std::string> stored() const { return server.get(bucket, object); }
};

/// Where a verb leaves the store when it succeeds.
enum class leaves { old_object, new_object, nothing };

struct verb_row {
  const char* name;
  const char* emulator_verb;
  bool repeatable;
  /// A lost reply is resolved by looking, so that success is found although it may not be repeated.
  bool looks;
  leaves after;
  std::function<result<void>(world&)> run;
};

template <class T>
result<void> without_value(result<T> from) {
  if (!from) return std::move(from).error();
  return {};
}

result<void> read(world& w, dataflux::byte_range range, const std::string& expected) {
  std::vector<std::byte> memory(expected.size());
  dataflux::span_sink sink(memory);
  auto summary = w.client.read({.bucket = w.bucket, .object = object, .range = range}, sink);
  if (!summary) return std::move(summary).error();
  CHECK(dataflux::as_text(sink.filled()) == expected);
  CHECK(summary->bytes == expected.size());
  CHECK(summary->generation == w.generation);
  CHECK(summary->crc32c == dataflux::codec::crc32c(sink.filled()));
  return {};
}

result<void> insert(world& w, std::optional<std::int64_t> match) {
  auto made = w.client.insert({.bucket = w.bucket,
                               .object = object,
                               .data = dataflux::as_bytes(new_bytes),
                               .conditions = {.if_generation_match = match}});
  if (!made) return std::move(made).error();
  CHECK(made->size == new_bytes.size());
  CHECK(made->generation != w.generation);
  return {};
}

result<void> list(world& w) {
  auto page = w.client.list_page({.bucket = w.bucket});
  if (!page) return std::move(page).error();
  CHECK(page->objects.size() == 1);
  CHECK(page->next_page_token.empty());
  return {};
}

const std::vector<verb_row> verbs{
    {"list", "objects.list", true, false, leaves::old_object, list},
    {"stat", "objects.get", true, false, leaves::old_object,
     [](world& w) {
       auto found = w.client.stat({.bucket = w.bucket, .object = object});
       if (found) CHECK(found->size == old_bytes.size());
       return without_value(std::move(found));
     }},
    {"read", "objects.media", true, false, leaves::old_object,
     [](world& w) { return read(w, {}, old_bytes); }},
    {"read range", "objects.media", true, false, leaves::old_object,
     [](world& w) {
       return read(w, dataflux::byte_range::span(1000, 50000), old_bytes.substr(1000, 50000));
     }},
    {"insert if", "objects.insert", true, true, leaves::new_object,
     [](world& w) { return insert(w, w.generation); }},
    {"insert", "objects.insert", false, true, leaves::new_object,
     [](world& w) { return insert(w, std::nullopt); }},
    {"remove generation", "objects.delete", true, false, leaves::nothing,
     [](world& w) {
       return w.client.remove({.bucket = w.bucket, .object = object, .generation = w.generation});
     }},
    {"remove", "objects.delete", false, false, leaves::nothing,
     [](world& w) { return w.client.remove({.bucket = w.bucket, .object = object}); }},
    {"initiate", "multipart.initiate", false, false, leaves::old_object,
     [](world& w) {
       return without_value(w.client.multipart_initiate({.bucket = w.bucket, .object = object}));
     }},
    {"part", "multipart.part", true, false, leaves::old_object,
     [](world& w) {
       auto part = w.client.upload_part({.bucket = w.bucket,
                                         .object = object,
                                         .upload_id = w.upload_id,
                                         .part_number = 1,
                                         .data = dataflux::as_bytes(new_bytes)});
       if (part) CHECK(part->size == new_bytes.size());
       return without_value(std::move(part));
     }},
    {"complete", "multipart.complete", true, true, leaves::new_object,
     [](world& w) {
       return without_value(w.client.multipart_complete({.bucket = w.bucket,
                                                         .object = object,
                                                         .upload_id = w.upload_id,
                                                         .parts = {w.part},
                                                         .limits = {.timeout = 20s}}));
     }},
    {"abort", "multipart.abort", true, false, leaves::old_object,
     [](world& w) {
       return w.client.multipart_abort(
           {.bucket = w.bucket, .object = object, .upload_id = w.upload_id});
     }},
};

/// What a fault means for a verb that it hits once.
enum class means {
  transient,  ///< not carried out; again if that does no harm
  throttled,  ///< not carried out; again in any case
  final,      ///< the answer
  broken,     ///< nobody knows whether it was carried out
  slow,       ///< nothing to be seen
  damaged,    ///< wrong bytes or wrong hash: a right value or an error
};

struct fault_row {
  const char* name;
  means kind;
  int status;
  fault::action action;
};

const std::vector<fault_row> faults{
    {"408", means::transient, 408, fault::send{.status = 408}},
    {"429", means::throttled, 429, fault::send{.status = 429}},
    {"500", means::transient, 500, fault::send{.status = 500}},
    {"502", means::transient, 502, fault::send{.status = 502}},
    {"503", means::transient, 503, fault::send{.status = 503}},
    {"504", means::transient, 504, fault::send{.status = 504}},
    {"400", means::final, 400, fault::send{.status = 400}},
    {"401", means::throttled, 401, fault::send{.status = 401}},
    {"403", means::final, 403, fault::send{.status = 403}},
    {"404", means::final, 404, fault::send{.status = 404}},
    {"reset", means::broken, 0, fault::cut{.where = fault::point::before_reply}},
    {"close", means::broken, 0, fault::cut{.where = fault::point::before_reply, .reset = false}},
    {"reset in head", means::broken, 0, fault::cut{.where = fault::point::in_head}},
    {"close in head", means::broken, 0, fault::cut{.where = fault::point::in_head, .reset = false}},
    {"reset in body", means::broken, 0,
     fault::cut{.where = fault::point::in_body, .body_bytes = 40}},
    {"close in body", means::broken, 0,
     fault::cut{.where = fault::point::in_body, .body_bytes = 40, .reset = false}},
    {"reply lost", means::broken, 0, fault::lose_reply{}},
    {"reply lost, closed", means::broken, 0, fault::lose_reply{.reset = false}},
    {"stall", means::broken, 0, fault::stall{.where = fault::point::before_reply}},
    {"stall in body", means::broken, 0,
     fault::stall{.where = fault::point::in_body, .body_bytes = 30}},
    {"drip", means::slow, 0, fault::drip{.bytes = 9000, .interval = 1ms}},
    {"wrong byte", means::damaged, 0, fault::flip_byte{.offset = 3}},
    {"wrong hash", means::damaged, 0, fault::wrong_hash{}},
    {"no document", means::damaged, 200, fault::send{.status = 200, .body = "{\"kind\": tru"}},
    {"an error in a 200", means::damaged, 200,
     fault::send{.status = 200,
                 .body = "<?xml version='1.0'?><Error><Code>InternalError</Code>"
                         "<Message>again</Message></Error>",
                 .content_type = "application/xml"}},
};

gcs::client_options quick(const emulator::server& server, dataflux::observer* watcher) {
  gcs::client_options o{.endpoint = server.endpoint(), .emulator = true, .observer = watcher};
  o.retry = {.max_attempts = 4, .first = 1ms, .cap = 5ms};
  o.stall_timeout = 150ms;
  o.first_byte_timeout = 150ms;
  o.complete_timeout = 150ms;
  o.transport.io_threads = 1;
  return o;
}

/// A bucket of its own for each case, so that none learns from another's 429.
world prepare(emulator::server& server, gcs::client& client, gcs::client& subject,
              const verb_row& verb, int number) {
  world w{server, subject, "matrix-" + std::to_string(number)};
  w.generation = server.put(w.bucket, object, old_bytes);
  if (std::string_view(verb.emulator_verb).substr(0, 9) != "multipart") return w;
  auto upload = client.multipart_initiate({.bucket = w.bucket, .object = object});
  INFO((upload ? std::string() : upload.error().to_string()));
  REQUIRE(upload);
  w.upload_id = upload->upload_id;
  auto part = client.upload_part({.bucket = w.bucket,
                                  .object = object,
                                  .upload_id = w.upload_id,
                                  .part_number = 1,
                                  .data = dataflux::as_bytes(new_bytes)});
  REQUIRE(part);
  w.part = *part;
  return w;
}

bool holds(const world& w, leaves what) {
  const auto stored = w.stored();
  switch (what) {
    case leaves::old_object:
      return stored == old_bytes;
    case leaves::new_object:
      return stored == new_bytes;
    case leaves::nothing:
      break;
  }
  return !stored;
}

void check_error(const world& w, const verb_row& verb, const dataflux::error& e) {
  CHECK(e.bucket() == w.bucket);
  CHECK(e.object() == (std::string_view(verb.name) == "list" ? "" : object));
  CHECK_FALSE(e.verb().empty());
  CHECK_FALSE(e.message().empty());
  CHECK(e.attempts() >= 1);
}

/// What a fault cannot say to a verb: any 200 is a success to a delete, no checksum covers a range,
/// and a stall behind a reply without a body hits the next request.
bool applies(const verb_row& verb, const fault_row& f) {
  const std::string_view v = verb.emulator_verb;
  const std::string_view what = f.name;
  const bool empty_reply = v == "objects.delete" || v == "multipart.part" || v == "multipart.abort";
  if (what == "stall in body") return !empty_reply;
  if (f.kind == means::damaged && f.status == 200) return !empty_reply;
  return what != "wrong byte" || std::string_view(verb.name) != "read range";
}

void check_cell(world& w, const verb_row& verb, const fault_row& f) {
  w.server.faults().add({.verb = verb.emulator_verb, .count = 1, .action = f.action});
  const result<void> outcome = verb.run(w);
  CHECK(w.server.faults().hits() == 1);
  w.server.faults().clear();
  if (!outcome) {
    INFO(outcome.error().to_string());
    check_error(w, verb, outcome.error());
    // What the service says it has stored damaged is taken away again (protocol.md 5.3).
    const bool removed = outcome.error().code() == errc::data_loss && holds(w, leaves::nothing);
    CHECK((holds(w, leaves::old_object) || holds(w, verb.after) || removed));
  } else {
    CHECK(holds(w, verb.after));
  }
  const bool told = f.kind == means::final || (f.kind == means::transient && !verb.repeatable);
  if (told) {
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().http_status() == f.status);
    CHECK(outcome.error().code() == dataflux::errc_from_http_status(f.status));
    CHECK(outcome.error().attempts() == 1);
    CHECK(holds(w, leaves::old_object));
    return;
  }
  const bool must_succeed = f.kind == means::throttled || f.kind == means::slow ||
                            (f.kind != means::damaged && verb.repeatable);
  if (must_succeed) {
    INFO((outcome ? std::string() : outcome.error().to_string()));
    CHECK(outcome);
  }
  // Looking finds what was carried out, whatever became of the reply.
  if (f.kind == means::broken && verb.looks && holds(w, verb.after)) CHECK(outcome);
}

}  // namespace

TEST_CASE("client: every verb survives or reports every fault", "[integration]") {
  emulator::server server;
  listener watcher;
  auto preparing = gcs::client::create(quick(server, nullptr));
  REQUIRE(preparing);
  int number = 0;
  for (const verb_row& verb : verbs) {
    for (const fault_row& f : faults) {
      if (!applies(verb, f)) continue;
      // A client of its own, lest a connection that one fault has spoilt surprise the next.
      auto client = gcs::client::create(quick(server, &watcher));
      REQUIRE(client);
      world w = prepare(server, **preparing, **client, verb, ++number);
      INFO(verb.name << " / " << f.name);
      check_cell(w, verb, f);
    }
  }
  CHECK(watcher.retries > 0);
  CHECK(watcher.text().find("Bearer") == std::string::npos);
}

TEST_CASE("client: a fault that stays ends in an error after the attempts allowed",
          "[integration]") {
  emulator::server server;
  auto preparing = gcs::client::create(quick(server, nullptr));
  REQUIRE(preparing);
  int number = 1000;
  const std::vector<fault_row> lasting{
      {"503", means::transient, 503, fault::send{.status = 503}},
      {"reset", means::broken, 0, fault::cut{}},
      {"close in body", means::broken, 0,
       fault::cut{.where = fault::point::in_body, .body_bytes = 0, .reset = false}},
      {"reply lost", means::broken, 0, fault::lose_reply{}},
  };
  for (const verb_row& verb : verbs) {
    for (const fault_row& f : lasting) {
      auto client = gcs::client::create(quick(server, nullptr));
      REQUIRE(client);
      world w = prepare(server, **preparing, **client, verb, ++number);
      INFO(verb.name << " / " << f.name);
      server.faults().add({.verb = verb.emulator_verb, .count = 0, .action = f.action});
      const result<void> outcome = verb.run(w);
      server.faults().clear();
      if (outcome) {  // found out by looking, or there was nothing in the reply
        CHECK(holds(w, verb.after));
        continue;
      }
      INFO(outcome.error().to_string());
      check_error(w, verb, outcome.error());
      CHECK(outcome.error().attempts() <= 4);
      CHECK(outcome.error().code() == errc::unavailable);
      CHECK((holds(w, leaves::old_object) || holds(w, verb.after)));
    }
  }
}

TEST_CASE("client: replies that always break off do not count as progress", "[integration]") {
  emulator::server server;
  auto client = gcs::client::create(quick(server, nullptr));
  REQUIRE(client);
  server.put("progress", object, old_bytes);
  server.faults().add(
      {.count = 0,
       .action = fault::cut{.where = fault::point::in_body, .body_bytes = 20, .reset = false}});
  auto page = (*client)->list_page({.bucket = "progress", .limits = {.timeout = 10s}});
  REQUIRE_FALSE(page);
  CHECK(page.error().code() == errc::unavailable);
  CHECK(page.error().attempts() == 4);
}
