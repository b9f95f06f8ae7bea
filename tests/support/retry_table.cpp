#include <support/retry_table.hpp>

#include <algorithm>

using dataflux::errc;
namespace fault = emulator::fault;

namespace {

constexpr auto row_timeout = std::chrono::milliseconds(600);
/// A fifth of the object that is read: a read comes through in five attempts.
constexpr std::uint64_t read_piece = 20000;

expected_outcome succeeds(int attempts, int looks = 0) { return {errc::ok, attempts, looks}; }

/// A chunk asks how far it has come before it is sent again.
int attempts_to_repeat(const verb_driver& verb) { return verb.verb == "resumable.chunk" ? 2 : 1; }

/// 408, 5xx and a reset: not carried out by the attempts that it hits.
expected_outcome after_refusal(const verb_driver& verb, const failure_column& failure, bool lasting,
                               int most) {
  const int steps = attempts_to_repeat(verb);
  // With no reply at all, the object is the only witness.
  const bool silent = failure.kind == failure_kind::reset;
  if (verb.safe() && !lasting) {
    return succeeds(1 + steps, silent && verb.last_writer ? verb.looks() : 0);
  }
  expected_outcome out{.code = errc::unavailable, .carried_out = false};
  out.attempts = verb.safe() ? 1 + (most - 1) * steps : 1;
  // Once before it is sent again, from then on under a condition, and once at the end.
  if (silent) out.looks = (verb.last_writer ? 2 : 1) * verb.looks();
  return out;
}

/// Carried out by each attempt that it hits.
expected_outcome after_loss(const verb_driver& verb, bool lasting, int most) {
  expected_outcome out;
  if (verb.verb == "resumable.chunk") return succeeds(2);
  out.looks = verb.looks();
  out.attempts = !verb.safe() || verb.last_writer ? 1 : lasting ? most : 2;
  const bool known = (verb.safe() && !lasting) || verb.rule().looks || verb.last_writer;
  if (!known) out.code = errc::unavailable;
  const bool opens = verb.verb == "multipart.initiate" || verb.verb == "resumable.start";
  if (opens) out.left_open = known ? out.attempts - 1 : out.attempts;
  return out;
}

std::string shown(const expected_outcome& e, int most) {
  std::string text = e.attempts == 0      ? "t"
                     : e.attempts == most ? "n"
                     : e.attempts > most  ? "2n - 1"
                                          : std::to_string(e.attempts);
  if (e.looks != 0) text += " + look";
  if (e.code != errc::ok) text += ", " + std::string(to_string(e.code));
  if (e.left_open != 0) text += " (!)";
  return text;
}

std::string condition_of(const verb_driver& verb) {
  const auto when = verb.rule().safe;
  if (verb.last_writer) return "none, last_writer_wins";
  if (!verb.conditional)
    return when == dataflux::detail::gcs::repeat_condition::always ? "" : "none";
  using enum dataflux::detail::gcs::repeat_condition;
  if (when == metageneration_match) return "if_metageneration_match";
  return when == generation ? "generation, or if_generation_match" : "if_generation_match";
}

/// One row for each driver; those of verbs that may always be repeated are the same with a
/// precondition.
std::string table(bool lasting) {
  constexpr int most = 100;  // told from every other number
  std::string out = "| verb | precondition |";
  std::string rule = "|---|---|";
  std::vector<const failure_column*> columns;
  for (const failure_column& f : failure_columns()) {
    const bool first_of_its_kind = columns.empty() || columns.back()->kind != f.kind;
    if (!first_of_its_kind) continue;
    columns.push_back(&f);
    const std::string_view head = f.kind == failure_kind::refused ? "408, 5xx"
                                  : f.kind == failure_kind::lost  ? "lost, stalled"
                                                                  : f.name;
    out.append(" ").append(head).append(" |");
    rule += "---|";
  }
  out += "\n" + rule + "\n";
  for (const verb_driver& verb : verb_drivers()) {
    const bool always = verb.rule().safe == dataflux::detail::gcs::repeat_condition::always;
    if (always && verb.conditional) continue;
    out += "| " + std::string(verb.verb) + " | " + condition_of(verb) + " |";
    for (const failure_column* f : columns) {
      const bool goes_on =
          lasting && verb.verb == "objects.media" && f->kind == failure_kind::truncated;
      out += goes_on ? " one a piece |" : " " + shown(expect(verb, *f, lasting, most), most) + " |";
    }
    out += "\n";
  }
  return out;
}

constexpr std::string_view beginning =
    R"(<!-- Written and checked by tests/integration/retry_table_test.cpp -->
# What is tried again

Every verb of `gcs::client` follows one table, `gcs::repeat_rules`. A test runs each cell below
against the emulator and compares attempts, outcome, and what is stored afterwards. The verbs of S3
have a page of their own: [retries-s3.md](retries-s3.md).

The columns:

- **429**: too many requests. The request was not carried out, so every verb is sent again. The
  client slows down and uses time, but no attempts (`t`: until `retry_policy::max_elapsed` or the
  call's limit).
- **408, 5xx**: the service says that it failed. 501 and 505 are final.
- **reset**: the connection breaks before the reply, and the request was not carried out.
- **truncated**: the request was carried out, and the reply breaks off in its body. A reply without
  a body cannot.
- **lost, stalled**: the request was carried out, and no reply comes. The connection breaks, or
  nothing moves for `stall_timeout` or `first_byte_timeout`.

A cell is the number of attempts, then the error, if it ends in one.

- `n` is `retry_policy::max_attempts`: attempts in a row without progress. It is
  `retry_policy::max_attempts_at_nobody`, if that is less, where no server has ever answered.
- `+ look`: the client reads the object's metadata (`objects.get`, for a move or a rewrite twice) to
  find out whether the call made it. A mark in the metadata, size and CRC32C identify it. So a write
  is never doubled and never misreported.
- `(!)`: an unknown upload stays open. A multipart upload is billed until it is aborted
  (`list_uploads` finds it). A resumable upload costs nothing and expires within a week.

There are two rules for a write without a precondition:

- **none**: Google's rule. It is sent once, because a second one could undo another writer's change.
- **none, last_writer_wins**: an option of the request, which the C ABI, Python, fsspec and the
  command set. After a refusal the request is sent again. After a lost reply the client looks first:
  - The call made the object, or a delete finds nothing or a newer object: success.
  - A patch finds nothing: `not_found`.
  - The object is older than the call's first request: the call continues under the precondition of
    that generation.
  - The object is newer: it belongs to another writer and stays. The call ends in `aborted`.

  A precondition of the caller's is kept, and the row with it holds.

A refused token (401) is refreshed once and the request sent again, whatever the verb, if the
credentials can give another one; after progress, once more. The client waits for a token that is
temporarily unavailable as it waits for the service. All other answers are final: 400, 403, 404,
409, 412, 416. Only a part or an insert that is refused for its checksum is sent again, twice at
most.

## When the first attempt fails

)";

constexpr std::string_view middle = R"(
## When every attempt fails in that way

A read that breaks off resumes behind its last byte. Its breaks are separate failures, so it ends
when all bytes are there. A chunk asks for the session's state before it is sent again, which is an
attempt, too.

)";

constexpr std::string_view ending = R"(
## What remains unknown

- By Google's rule a write without its precondition is not sent again after 408 or 5xx, although the
  service may have carried it out. A delete whose reply is lost may have happened: `unavailable`
  does not say.
- With `last_writer_wins` a refused write is sent again unchanged. If the service had carried it out
  all the same, and another writer wrote in between, that writer's object is replaced. (A compose of
  an object onto itself would append twice, and looks first.)
- The object's creation (for a patch, its last change) decides what is older and newer. A client
  remembers the youngest object in any reply. That object, and all that are older by a millisecond,
  are older than its next call. So objects that the same client made or looked at count as older.
  Listings and reads are not remembered. This assumes that one clock stamps the objects of all
  buckets of a client.
- Otherwise the `Date` of the look decides, less the time since the first request. A `Date` has
  whole seconds: if it cannot decide, the client looks again, ten times within 1.2 seconds. An object that
  another client made less than some 130 milliseconds before the call stays undecided. It is left as
  it is, and the call fails with its own error. So does a call to a service without a `Date`, or
  without permission to read.
- If another writer removes the call's object before the look, the call makes it once more.
- If a proxy sends a request twice, the client gets the second answer, although the first one
  succeeded. A write with a precondition gets 412; a delete, a move and the completion of a
  multipart upload get 404. The client sent one request, so `outcome_unknown` is not set.
- A move is recognised by `crc32c` or by `source_conditions.if_generation_match`; with neither, it
  fails with its own error. With `last_writer_wins`, also under a precondition of the target, it is
  recognised by the missing source. In each case the object under the new name must not be older
  than the call. The rules above decide that, but without further looks. So one race passes for
  success: the request is lost, another writer removes the source meanwhile, and a third wrote the
  new name less than a second before the call. An object that this client made or looked at there is
  not taken for the moved one. A look before each move would decide more, and cost a request each
  time.
)";

}  // namespace

const std::vector<failure_column>& failure_columns() {
  using enum failure_kind;
  static const std::vector<failure_column> all{
      {"429", throttled, 429, fault::refuse{.status = 429}},
      {"408", refused, 408, fault::refuse{.status = 408}},
      {"500", refused, 500, fault::refuse{.status = 500}},
      {"502", refused, 502, fault::refuse{.status = 502}},
      {"503", refused, 503, fault::refuse{.status = 503}},
      {"504", refused, 504, fault::refuse{.status = 504}},
      {"reset", reset, 0, fault::cut{}},
      {"truncated", truncated, 0,
       fault::cut{.where = fault::point::in_body, .body_bytes = 10, .reset = false}},
      {"stalled", lost, 0, fault::stall{}},
      {"lost", lost, 0, fault::lose_reply{}},
  };
  return all;
}

expected_outcome expect(const verb_driver& verb, const failure_column& failure, bool lasting,
                        int most) {
  switch (failure.kind) {
    case failure_kind::throttled:
      if (!lasting) return succeeds(1 + attempts_to_repeat(verb));
      return {.code = errc::resource_exhausted, .carried_out = false};
    case failure_kind::refused:
    case failure_kind::reset:
      return after_refusal(verb, failure, lasting, most);
    case failure_kind::truncated:
      if (!verb.has_reply_body) return succeeds(1);
      if (verb.verb != "objects.media") break;
      return succeeds(lasting ? static_cast<int>(old_bytes.size() / read_piece) : 2);
    case failure_kind::lost:
      break;
  }
  return after_loss(verb, lasting, most);
}

fault_cell cell_of(const verb_driver& verb, const failure_column& failure, bool lasting) {
  fault_cell cell{.verb = &verb,
                  .fault = std::string(failure.name) + (lasting ? ", every time" : ""),
                  .action = failure.action,
                  .hits = lasting ? 0U : 1U};
  if (std::holds_alternative<fault::stall>(failure.action)) cell.timeout = row_timeout;
  if (failure.kind == failure_kind::throttled && lasting) {
    cell.max_elapsed = std::chrono::milliseconds(20);
  }
  if (failure.kind == failure_kind::truncated && verb.verb == "objects.media") {
    std::get<fault::cut>(cell.action).body_bytes = read_piece;
  }
  return cell;
}

std::string retry_document() {
  return std::string(beginning) + table(false) + std::string(middle) + table(true) +
         std::string(ending);
}
