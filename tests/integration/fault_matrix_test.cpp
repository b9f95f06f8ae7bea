#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/fault_cells.hpp>
#include <support/sanitized.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace fault_matrix_test {

// Every verb under every fault, at the first attempt, the first two, and all: what the caller gets
// is right or a clear error; what the store holds is the object from before or the one asked for,
// once; no upload is left open that the caller could not know of.
namespace {

using namespace std::chrono_literals;
using dataflux::errc;
namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;
using fault::point;

constexpr auto timeout = 600ms;
constexpr int most = 4;  // attempts, of quick_options()

/// What a fault means for a request that it hits.
enum class means {
  transient,     ///< not carried out; again if that does no harm
  throttled,     ///< not carried out; again in any case
  unauthorized,  ///< not carried out; again once
  final,         ///< not carried out; the answer
  unreached,     ///< not carried out, no reply
  lost,          ///< carried out, no whole reply
  slow,          ///< nothing to be seen
  damaged,       ///< carried out; wrong bytes or a wrong hash in the reply
  foreign,       ///< not carried out; a success without its document
  doubled,       ///< carried out, and then again
};

struct fault_row {
  std::string name;
  means kind;
  int status;
  fault::action action;
  std::optional<std::uint64_t> request_bytes{};
  std::string_view body{};  ///< of its reply, when it is text of ours
};

struct body_form {
  std::string_view name;
  std::string_view type;
  std::string_view text;
};
constexpr body_form bodies[] = {
    {"JSON", "application/json",
     R"({"error":{"code":1,"message":"the words","errors":[{"reason":"someReason"}]}})"},
    {"XML", "application/xml",
     "<?xml version='1.0'?><Error><Code>SomeCode</Code><Message>the words</Message></Error>"},
    {"plain", "text/plain", "the words"},
    {"page", "text/html", "<!doctype html><title>the words</title>"},
    {"empty", "", ""},
};

void add_replies(std::vector<fault_row>& rows) {
  const std::pair<int, means> statuses[] = {
      {403, means::final}, {429, means::throttled}, {503, means::transient}, {200, means::foreign}};
  for (const auto& [status, kind] : statuses) {
    for (const body_form& body : bodies) {
      rows.push_back({std::to_string(status) + " " + std::string(body.name),
                      kind,
                      status,
                      fault::send{.status = status,
                                  .body = std::string(body.text),
                                  .content_type = std::string(body.type)},
                      {},
                      body.name == "page" && status == 503 ? "" : body.text});
    }
  }
  for (const int status : {400, 404, 409, 410, 412, 416, 501}) {
    rows.push_back({std::to_string(status), means::final, status, fault::refuse{status}});
  }
  for (const int status : {408, 500, 502, 504}) {
    rows.push_back({std::to_string(status), means::transient, status, fault::refuse{status}});
  }
  rows.push_back({"429", means::throttled, 429, fault::refuse{429}});
  rows.push_back({"401", means::unauthorized, 401, fault::refuse{401}});
  rows.push_back({"token expired", means::unauthorized, 401, fault::expire_tokens{}});
  rows.push_back(
      {"200 cut JSON", means::foreign, 200, fault::send{.status = 200, .body = "{\"kind\": tru"}});
}

void add_breaks(std::vector<fault_row>& rows) {
  for (const bool reset : {true, false}) {
    const std::string how = reset ? "reset" : "close";
    const auto cut = [&](point where, std::uint64_t bytes) {
      return fault::cut{.where = where, .body_bytes = bytes, .reset = reset};
    };
    rows.push_back({how, means::unreached, 0, cut(point::before_reply, 0)});
    rows.push_back(
        {how + " while sending", means::unreached, 0, cut(point::before_reply, 0), 1000});
    rows.push_back({how + " in head", means::lost, 0, cut(point::in_head, 0)});
    rows.push_back({how + " before body", means::lost, 0, cut(point::in_body, 0)});
    rows.push_back({how + " in body", means::lost, 0, cut(point::in_body, 30)});
    rows.push_back({how + " after body", means::slow, 0, cut(point::in_body, 1'000'000)});
    rows.push_back({how + ", reply lost", means::lost, 0, fault::lose_reply{reset}});
  }
  rows.push_back({"stall", means::lost, 0, fault::stall{}});
  rows.push_back({"stall in head", means::lost, 0, fault::stall{.where = point::in_head}});
  rows.push_back(
      {"stall in body", means::lost, 0, fault::stall{.where = point::in_body, .body_bytes = 30}});
  rows.push_back({"503 while sending", means::transient, 503, fault::refuse{503}, 1000});
  rows.push_back({"403 while sending", means::final, 403, fault::refuse{403}, 1000});
}

std::vector<fault_row> all_faults() {
  std::vector<fault_row> rows;
  add_replies(rows);
  add_breaks(rows);
  rows.push_back({"drip", means::slow, 0, fault::drip{.bytes = 9000, .interval = 1ms}});
  rows.push_back({"delay", means::slow, 0, fault::delay{5ms}});
  rows.push_back({"wrong byte", means::damaged, 0, fault::flip_byte{.offset = 3}});
  rows.push_back({"wrong hash", means::damaged, 0, fault::wrong_hash{}});
  rows.push_back({"carried out twice", means::doubled, 0, fault::execute_twice{}});
  return rows;
}

/// What a fault cannot say to a verb.
bool applies(const verb_driver& verb, const fault_row& f) {
  const bool without_value = verb.verb == "objects.delete" || verb.verb == "multipart.abort" ||
                             verb.verb == "resumable.cancel";
  // Any 2xx without a word to the contrary is a success to what has no value.
  if (without_value && f.kind == means::foreign) {
    return f.name == "200 JSON" || f.name == "200 XML" || f.name == "200 page";
  }
  // Of what it neither sent nor was told before, a client knows no checksum.
  const bool unknown_to_client = verb.verb == "objects.get" || verb.verb == "objects.move" ||
                                 verb.verb == "objects.rewrite" || verb.verb == "objects.patch";
  return f.name != "wrong hash" || !unknown_to_client;
}

fault_cell cell_of(const verb_driver& verb, const fault_row& f, std::uint64_t hits) {
  fault_cell cell{.verb = &verb,
                  .fault = f.name + (hits == 1   ? ""
                                     : hits == 2 ? ", twice"
                                                 : ", every time"),
                  .action = f.action,
                  .hits = hits,
                  .request_bytes = f.request_bytes};
  if (std::holds_alternative<fault::stall>(f.action)) cell.timeout = timeout;
  if (f.kind == means::throttled) cell.max_elapsed = hits == 0 ? 20ms : 300'000ms;
  // A read goes on behind what it got: in some pieces, not in thousands.
  if (verb.verb != "objects.media") return cell;
  if (auto* const cut = std::get_if<fault::cut>(&cell.action); cut && cut->body_bytes == 30) {
    cut->body_bytes = 30000;
  }
  if (auto* const stall = std::get_if<fault::stall>(&cell.action); stall && stall->body_bytes > 0) {
    stall->body_bytes = 30000;
  }
  return cell;
}

bool begins_upload(const verb_driver& verb) {
  return verb.verb == "multipart.initiate" || verb.verb == "resumable.start";
}
bool ends_upload(const verb_driver& verb) {
  return verb.verb == "multipart.complete" || verb.verb == "multipart.abort" ||
         verb.verb == "resumable.chunk" || verb.verb == "resumable.cancel";
}

/// Says what is wrong with the error as such; nothing when it is clear.
std::string verify_error(const fault_cell& cell, const dataflux::error& e) {
  const std::string text = e.to_string();
  const auto lacks = [&text](const std::string& what) {
    return text.find(what) == std::string::npos;
  };
  // Of an account: which object is signed for, who asks adds.
  const bool of_account = cell.verb->verb == "iam.signBlob" || cell.verb->verb == "metadata.email";
  const bool of_bucket =
      of_account || cell.verb->verb == "objects.list" || cell.verb->verb == "objects.bulkRestore" ||
      cell.verb->verb == "multipart.uploads" || cell.verb->verb.starts_with("buckets.");
  if (e.verb() != cell.verb->verb) return "the error names another verb";
  // What is not found is the source, of a verb that has one.
  const bool of_source =
      e.code() == dataflux::errc::not_found &&
      (cell.verb->verb == "objects.move" || cell.verb->verb == "objects.rewrite");
  const std::string_view named = of_bucket ? "" : of_source ? "source" : stage_object;
  if (e.object() != named) return "the error names another object";
  if (e.message().empty()) return "the error has no message";
  // A listing of buckets is about a project, not a bucket.
  const std::string place = "gs://" + e.bucket() + (of_bucket ? "" : "/" + e.object());
  if (cell.verb->verb != "buckets.list" && !of_account && lacks(place)) {
    return "no place is named";
  }
  if (e.attempts() < 1 || lacks("attempts " + std::to_string(e.attempts()))) return "no attempts";
  if (e.http_status() != 0 && lacks("HTTP " + std::to_string(e.http_status()))) return "no status";
  return {};
}

/// What holds after any fault.
std::string verify_traces(const fault_cell& cell, const fault_row& f, const cell_outcome& got) {
  const verb_driver& verb = *cell.verb;
  const auto& failure = got.verb.failure;
  if (got.hits == 0) return "the fault hit nothing";
  if (!got.verb.wrong.empty()) return "wrong value";
  const std::size_t most_writes = f.kind == means::doubled ? 2 : 1;
  if (got.writes > most_writes) return "doubled";
  const bool prevented = f.kind != means::lost && f.kind != means::slow &&
                         f.kind != means::damaged && f.kind != means::doubled;
  if (!failure && got.state != verb.after)
    return "success, with " + std::string(to_string(got.state));
  // What the service says it has stored damaged is taken away again (protocol.md 5.3).
  const bool removed =
      failure && failure->code() == errc::data_loss && got.state == stage_state::nothing;
  const bool done = got.state == verb.after && !prevented;
  if (failure && got.state != stage_state::old_object && !done && !removed) {
    return "failure, with " + std::string(to_string(got.state));
  }
  if (!failure && ends_upload(verb) && got.opened != -1) return "success, with the upload open";
  if (!failure && begins_upload(verb) && got.opened < 1) return "success, with no upload open";
  const std::int64_t may_open =
      !begins_upload(verb) ? 0
      : prevented          ? (failure ? 0 : 1)
                           : static_cast<std::int64_t>(got.requests + (f.kind == means::doubled));
  if (got.opened > may_open) return "an upload is left open";
  const std::string said = got.told + (failure ? failure->to_string() : "");
  if (!got.session_id.empty() && said.find(got.session_id) != std::string::npos)
    return "a secret is told";
  return {};
}

/// The failure that a fault must end in: the status and code given, after so many attempts.
std::string must_fail(const cell_outcome& got, int status, errc code, int attempts) {
  const auto& failure = got.verb.failure;
  if (!failure) return "no failure";
  if (failure->http_status() != status) return "another status";
  if (failure->code() != code) return std::string(to_string(code)) + " expected";
  if (attempts != 0 && failure->attempts() != attempts) {
    return "attempts " + std::to_string(attempts) + " expected";
  }
  return got.state == stage_state::old_object ? "" : "changed";
}

/// The client has sent it once, and is told of the second time: that there is nothing any more, or
/// no longer what its precondition asks for.
std::string verify_twice(const fault_cell& cell, const cell_outcome& got) {
  const auto& failure = got.verb.failure;
  const std::string_view verb = cell.verb->verb;
  const bool ends = verb == "objects.delete" || verb == "objects.move" ||
                    verb == "multipart.complete" || verb == "multipart.abort";
  const bool pinned = verb == "objects.insert" || verb == "objects.compose" ||
                      verb == "objects.rewrite" || verb == "objects.patch";
  if (!failure) return ends && cell.hits == 1 && verb != "multipart.abort" ? "success" : "";
  if (failure->http_status() != 404 && failure->http_status() != 412) return "another status";
  if (!ends && !pinned) return "failure";
  if (got.state != cell.verb->after) return "not done";
  return failure->outcome_unknown() ? "unknown to whom?" : "";
}

std::string must_succeed(const cell_outcome& got) { return got.verb.failure ? "failure" : ""; }

/// Status codes that repeating does not mend, and those that stay.
std::string verify_status(const fault_cell& cell, const fault_row& f, const cell_outcome& got) {
  const bool chunk = cell.verb->verb == "resumable.chunk";  // asks in between
  const errc code = dataflux::errc_from_http_status(f.status);
  switch (f.kind) {
    case means::final: {
      // 416 is an answer to a read.
      if (f.status == 416 && cell.verb->verb == "objects.media") {
        return got.verb.failure ? "" : "no failure";
      }
      return must_fail(got, f.status, code, 1);
    }
    case means::unauthorized:
      // It has no token, of which a new one could be had.
      if (cell.verb->verb == "metadata.email") {
        return must_fail(got, 401, errc::unauthenticated, 1);
      }
      if (cell.hits == 1) return must_succeed(got);
      return must_fail(got, 401, errc::unauthenticated, chunk ? 3 : 2);
    case means::throttled:
      return cell.hits != 0 ? must_succeed(got) : must_fail(got, 429, errc::resource_exhausted, 0);
    default:
      if (!cell.verb->safe()) return must_fail(got, f.status, code, 1);
      if (cell.hits != 0) return must_succeed(got);
      return must_fail(got, f.status, code, chunk ? 2 * most - 1 : most);
  }
}

std::string verify_break(const fault_cell& cell, const fault_row& f, const cell_outcome& got) {
  const verb_driver& verb = *cell.verb;
  const bool found = f.kind == means::lost && verb.rule().looks;
  if ((verb.safe() && cell.hits != 0) || found) return must_succeed(got);
  const auto& failure = got.verb.failure;
  if (!failure) return {};  // nothing was missing from the reply
  if (failure->code() != errc::unavailable) return "unavailable expected";
  return failure->retryable() ? "" : "not retryable";
}

std::string verify(const fault_cell& cell, const fault_row& f, const cell_outcome& got) {
  if (auto wrong = verify_traces(cell, f, got); !wrong.empty()) return wrong;
  if (got.verb.failure) {
    if (auto unclear = verify_error(cell, *got.verb.failure); !unclear.empty()) return unclear;
    const bool own_words =
        f.body.find("the words") != std::string_view::npos && f.kind != means::foreign;
    if (own_words && got.verb.failure->message().find("the words") == std::string::npos) {
      return "what the service said is lost";
    }
  }
  switch (f.kind) {
    case means::slow:
      return must_succeed(got);
    case means::unreached:
    case means::lost:
      return verify_break(cell, f, got);
    case means::doubled:
      return verify_twice(cell, got);
    case means::damaged:
    case means::foreign:
      return {};  // what holds after any fault is all that can be asked
    default:
      return verify_status(cell, f, got);
  }
}

}  // namespace

TEST_CASE("client: every verb survives or reports every fault", "[integration]") {
  const std::vector<fault_row> faults = all_faults();
  std::vector<fault_cell> cells;
  std::vector<const fault_row*> rows;
  // Under a sanitizer a third of them: each fault is met by some verbs, each verb by some faults.
  std::size_t number = 0;
  for (const fault_row& f : faults) {
    for (const std::uint64_t hits : {1U, 2U, 0U}) {
      // Twice refused for its rate a bucket is slowed down, which takes seconds: one form will do.
      if (f.kind == means::throttled && hits != 1 && f.name != "429") continue;
      for (const verb_driver& verb : verb_drivers()) {
        if (!applies(verb, f) || (++number % 3 != 0 && sanitized)) continue;
        cells.push_back(cell_of(verb, f, hits));
        rows.push_back(&f);
      }
    }
  }
  CHECK(run_cells(cells, [&](const fault_cell& cell, const cell_outcome& got) {
          return verify(cell, *rows[static_cast<std::size_t>(&cell - cells.data())], got);
        }) == "");
}

TEST_CASE("client: replies that always break off do not count as progress", "[integration]") {
  emulator::server server;
  auto client = gcs::client::create(quick_options(server, 30s));
  REQUIRE(client);
  server.put("progress", stage_object, old_bytes);
  server.faults().add(
      {.count = 0,
       .action = fault::cut{.where = fault::point::in_body, .body_bytes = 20, .reset = false}});
  auto page = (*client)->list_page({.bucket = "progress", .limits = {.timeout = 10s}});
  REQUIRE_FALSE(page);
  CHECK(page.error().code() == errc::unavailable);
  CHECK(page.error().attempts() == 4);
}

}  // namespace fault_matrix_test
