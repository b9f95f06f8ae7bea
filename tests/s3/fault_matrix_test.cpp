#include <dataflux/checkpoint/checkpoint_writer.hpp>

#include <s3/fixture.hpp>
#include <support/upload_faults.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace s3_fault_matrix_test {
// Every kind of request under every fault, once and always: what the caller gets is right or a
// clear error, and the store holds what was there before, or what was asked for.
namespace {

using namespace std::chrono_literals;
using dataflux::as_bytes;
using dataflux::errc;
using dataflux::result;
using upload_faults::old_body;
namespace fault = emulator::fault;
namespace s3 = dataflux::s3;

struct world {
  emulator::server server{[] {
    auto options = s3_test::s3_server({});
    options.threads = 1;
    return options;
  }()};

  std::shared_ptr<s3::client> client(dataflux::duration patience) const {
    auto options = s3_test::options_of(server);
    options.retry = {.max_attempts = 4, .first = 1ms, .cap = 5ms};
    options.retry.max_elapsed = 2s;
    options.stall_timeout = options.first_byte_timeout = options.complete_timeout = patience;
    return s3::client::create(options).value();
  }
  /// A bucket with the old object whose conditions are known.
  std::shared_ptr<s3::client> begin(const std::string& bucket) {
    server.faults().clear();
    server.put(bucket, "ckpt/o", old_body);
    auto made = client(700ms);
    // Once more with a checksum, as S3 itself gives one to what comes without.
    static_cast<void>(
        made->insert({.bucket = bucket, .object = "ckpt/o", .data = as_bytes(old_body)}));
    auto asked = made->insert(
        {.bucket = bucket, .object = "asked", .conditions = {.if_generation_match = 0}});
    if (asked) asked = made->stat({.bucket = bucket, .object = "asked"});
    if (asked) static_cast<void>(made->remove({.bucket = bucket, .object = "asked"}));
    return made;
  }
};

std::vector<upload_faults::named_fault> all_faults() {
  auto all = upload_faults::all();
  all.push_back({"an hour behind", fault::skew{-1h}});
  all.push_back({"an hour ahead", fault::skew{1h}});
  all.push_back({"ETag without quotes", fault::etag_form{}});
  all.push_back({"no ETag", fault::etag_form{.form = fault::etag_form::kind::absent}});
  all.push_back({"error after blanks",
                 fault::late_answer{.code = "InternalError", .spaces = 9, .before_all = true}});
  all.push_back({"late answer", fault::late_answer{.spaces = 9}});
  all.push_back({"SlowDown", fault::send{.status = 503,
                                         .body = "<Error><Code>SlowDown</Code></Error>",
                                         .content_type = "application/xml"}});
  all.push_back({"cut body", fault::cut{.where = fault::point::in_body, .body_bytes = 5}});
  return all;
}

struct place {
  s3::client& client;
  std::string bucket;
  std::int64_t old;
};

template <class T>
result<void> ended(const result<T>& outcome) {
  if (!outcome) return outcome.error();
  return {};
}

result<void> create(const place& at) {
  return ended(at.client.insert({.bucket = at.bucket,
                                 .object = "new",
                                 .data = as_bytes(old_body),
                                 .conditions = {.if_generation_match = 0}}));
}
result<void> copy(const place& at) {
  return ended(at.client.run(dataflux::rewrite_request{.source_bucket = at.bucket,
                                                       .source = "ckpt/o",
                                                       .bucket = at.bucket,
                                                       .object = "new",
                                                       .conditions = {.if_generation_match = 0}}));
}
result<void> upload(const place& at) {
  const auto begun =
      at.client.run(dataflux::multipart_initiate_request{.bucket = at.bucket, .object = "new"});
  if (!begun) return begun.error();
  const auto part = at.client.run(dataflux::upload_part_request{.bucket = at.bucket,
                                                                .object = "new",
                                                                .upload_id = begun->upload_id,
                                                                .part_number = 1,
                                                                .data = as_bytes(old_body)});
  if (!part) return part.error();
  return ended(at.client.run(
      dataflux::multipart_complete_request{.bucket = at.bucket,
                                           .object = "new",
                                           .upload_id = begun->upload_id,
                                           .parts = {*part},
                                           .mark = begun->mark,
                                           .conditions = {.if_generation_match = 0}}));
}
result<void> remove(const place& at) {
  return at.client.remove({.bucket = at.bucket, .object = "ckpt/o", .generation = at.old});
}
result<void> remove_many(const place& at) {
  const auto kept = at.client.run(
      dataflux::remove_many_request{.bucket = at.bucket, .objects = {{"ckpt/o"}, {"none"}}});
  if (!kept) return kept.error();
  if (!kept->empty()) return kept->front().why;
  return {};
}
result<void> list(const place& at) {
  const auto page = at.client.list_page({.bucket = at.bucket});
  if (!page) return page.error();
  const bool right = page->objects.size() == 1 && page->objects.name(0) == "ckpt/o";
  return right ? result<void>{} : dataflux::error{errc::unknown, "a wrong listing"};
}
result<void> stat(const place& at) {
  const auto found = at.client.stat({.bucket = at.bucket, .object = "ckpt/o"});
  if (!found) return found.error();
  const bool right = found->size == old_body.size();
  return right ? result<void>{} : dataflux::error{errc::unknown, "wrong metadata"};
}
result<void> read(const place& at) {
  std::vector<std::byte> memory(old_body.size());
  dataflux::span_sink sink(memory);
  const auto got = at.client.read({.bucket = at.bucket, .object = "ckpt/o"}, sink);
  if (!got) return got.error();
  const bool right = dataflux::as_text(sink.filled()) == old_body;
  return right ? result<void>{} : dataflux::error{errc::unknown, "wrong bytes"};
}

enum class effect { none, makes, removes };
struct verb_case {
  std::string_view name;
  std::string_view verb;
  result<void> (*run)(const place&);
  effect what{effect::none};
};
constexpr verb_case verbs[] = {
    {"create", "objects.insert", create, effect::makes},
    {"create, its look", "objects.get", create, effect::makes},
    {"copy", "objects.copy", copy, effect::makes},
    {"begin", "multipart.initiate", upload, effect::makes},
    {"part", "multipart.part", upload, effect::makes},
    {"complete", "multipart.complete", upload, effect::makes},
    {"remove", "objects.delete", remove, effect::removes},
    {"remove many", "objects.deleteMany", remove_many, effect::removes},
    {"list", "objects.list", list},
    {"stat", "objects.get", stat},
    {"read", "objects.media", read},
};

struct cell {
  const verb_case* verb;
  upload_faults::named_fault fault;
  std::uint64_t count;
};

std::string check_state(world& w, const std::string& bucket, const cell& c,
                        const result<void>& made) {
  const auto old = w.server.get(bucket, "ckpt/o");
  const auto fresh = w.server.get(bucket, "new");
  const bool whole = !fresh || *fresh == old_body;
  if (!whole || (old && *old != old_body)) return "an object of other bytes";
  const bool done = c.verb->what == effect::makes     ? fresh.has_value()
                    : c.verb->what == effect::removes ? !old
                                                      : true;
  if (c.verb->what != effect::removes && !old) return "an object is gone";
  if (made && !done) return "said to be done, and is not";
  if (made) return {};
  const dataflux::error& why = made.error();
  if (why.code() == errc::unknown && why.http_status() == 0) return why.message();
  if (why.message().empty() || why.bucket() != bucket) return "an error that names nothing";
  return {};
}

std::string run_cell(world& w, const cell& c, int number) {
  const std::string bucket = "cell-" + std::to_string(number);
  const auto client = w.begin(bucket);
  const auto old = client->stat({.bucket = bucket, .object = "ckpt/o"});
  if (!old) return old.error().to_string();
  w.server.faults().add({.verb = std::string(c.verb->verb),
                         .bucket = bucket,
                         .count = c.count,
                         .request_bytes = c.fault.request_bytes,
                         .action = c.fault.action});
  const auto made = c.verb->run({*client, bucket, old->generation});
  w.server.faults().clear();
  std::string wrong = check_state(w, bucket, c, made);
  if (!wrong.empty() && !made) wrong += " (" + made.error().to_string() + ")";
  return wrong;
}

TEST_CASE("s3 fault matrix: each request under each fault", "[s3]") {
  std::vector<cell> cells;
  for (const verb_case& verb : verbs) {
    for (const auto& each : all_faults()) {
      // Any 2xx without a word to the contrary is a success to what has no value.
      if (verb.run == remove && each.name == "200 empty") continue;
      for (const std::uint64_t count : {1U, 0U}) cells.push_back({&verb, each, count});
    }
  }
  CHECK(upload_faults::run_all<world>(cells, run_cell, [](const cell& c) {
          return std::string(c.verb->name) + (c.count == 0 ? ", always / " : " / ") +
                 std::string(c.fault.name);
        }) == "");
}

struct save_cell {
  bool parts;
  std::string_view verb;
  std::uint64_t from;
  upload_faults::named_fault fault;
  std::uint64_t count;
};

std::string run_save(world& w, const save_cell& c, int number) {
  const std::string bucket = "save-" + std::to_string(number);
  const auto client = w.begin(bucket);
  w.server.faults().add({.verb = std::string(c.verb),
                         .bucket = bucket,
                         .from = c.from,
                         .count = c.count,
                         .request_bytes = c.fault.request_bytes,
                         .action = c.fault.action});
  const std::string_view body =
      c.parts ? std::string_view{upload_faults::large_body()} : "a small new object";
  result<dataflux::committed_object> made = dataflux::error{errc::unknown, ""};
  {
    const dataflux::transfer_context context(*client, {.upload_memory = 4 * upload_faults::part});
    auto writer = dataflux::checkpoint_writer::open(
        context, {.bucket = bucket, .object = "ckpt/o", .part_size = upload_faults::part});
    if (!writer) made = writer.error();
    for (std::size_t at = 0; writer && at < body.size(); at += 700'000) {
      if (!writer->write(as_bytes(body.substr(at, 700'000)))) break;
    }
    if (writer) made = writer->commit();
  }
  w.server.faults().clear();
  const auto there = w.server.get(bucket, "ckpt/o");
  const bool removed =
      !there && !made &&
      made.error().message().find("damaged object was removed") != std::string::npos;
  std::string wrong;
  if (!removed && there != body && there != old_body) {
    wrong = "neither the old object nor the new one";
  } else if (made && there != body) {
    wrong = "committed, and the old object is there";
  } else {
    const std::string left = upload_faults::orphans(*w.client(30s), bucket, "ckpt/o");
    const bool doubled = c.fault.name == "carried out twice" && c.verb == "multipart.initiate";
    const bool told = !made && made.error().message().find("uploads list") != std::string::npos;
    if (!left.empty() && !told && !doubled) wrong = "left behind: " + left;
  }
  w.server.put(bucket, "ckpt/o", old_body);
  if (!wrong.empty()) wrong += made ? " (committed)" : " (" + made.error().to_string() + ")";
  return wrong;
}

TEST_CASE("s3 fault matrix: a save under each fault, the old object or the new one", "[s3]") {
  struct step {
    bool parts;
    std::string_view verb;
    std::uint64_t from{1};
  };
  constexpr step steps[] = {{false, "objects.get"},      {false, "objects.insert"},
                            {true, "objects.get", 2},    {true, "multipart.initiate"},
                            {true, "multipart.part", 2}, {true, "multipart.complete"}};
  std::vector<save_cell> cells;
  for (const step& s : steps) {
    for (const auto& each : all_faults()) {
      for (const std::uint64_t count : {1U, 0U}) {
        cells.push_back({s.parts, s.verb, s.from, each, count});
      }
    }
  }
  CHECK(upload_faults::run_all<world>(cells, run_save, [](const save_cell& c) {
          return std::string(c.verb) + " from " + std::to_string(c.from) +
                 (c.count == 0 ? ", always / " : " / ") + std::string(c.fault.name);
        }) == "");
}

}  // namespace
}  // namespace s3_fault_matrix_test
