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
  if (!verb.conditional) return when == dataflux::gcs::repeat_condition::always ? "" : "none";
  using enum dataflux::gcs::repeat_condition;
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
    const bool always = verb.rule().safe == dataflux::gcs::repeat_condition::always;
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
against the emulator and compares attempts, outcome, and what is stored afterwards.

The columns:

- **429**: too many requests. Not carried out, so every verb is sent again; the client slows down
  and uses up no attempts, only time (`t`: until `retry_policy::max_elapsed` or the call's limit).
- **408, 5xx**: the service says that it failed. Of 5xx 501 and 505 are final.
- **reset**: the connection breaks before the reply, and the request was not carried out.
- **truncated**: it was carried out, the reply breaks off in its body. A reply without a body
  cannot.
- **lost, stalled**: it was carried out, and no reply comes: the connection breaks, or nothing moves
  for `stall_timeout` or `first_byte_timeout`.

A cell is the number of attempts, then the error, if it ends in one. `n` is
`retry_policy::max_attempts`, of attempts in a row that brought nothing. `+ look`: the object is
looked at (`objects.get`, for a move or a rewrite twice) to find out whether the call made it; what it
made is known by a mark in its metadata, by size and by CRC32C, so that a write is never doubled and
never misreported. `(!)`: an upload is left open that nobody knows of: one of a multipart upload is
billed until it is aborted (`list_uploads` finds it), that of a resumable upload costs nothing and
goes away within a week.

There are two rules for a write without a precondition:

- **none**: Google's. It is sent once, since twice could undo what another writer did in between.
- **none, last_writer_wins**: an option of the request, which all above the verbs sets: the C ABI,
  Python, fsspec, the command. After a refusal it is sent again. After a lost reply the object is
  looked at first: what the call has made is success, and so is nothing, or something newer, to a
  delete. A patch that finds nothing ends in `not_found`. What is older than the call's first
  request was there before: the call goes on under the precondition that it still is, by its
  generation. What is newer is another writer's and stays: the call ends in `aborted`. A
  precondition of the caller's is kept, and the row with it holds.

A refused token (401) is refreshed once and the request sent again, whatever the verb, where there
is somebody to ask for another one; after progress, once more. A token that is not to be had for the
moment is waited for as the service is. Everything else that the service answers is final: 400, 403,
404, 409, 412, 416; but a part or an insert that is refused for its checksum is sent again, twice at
most. Where nobody has ever answered, `n` is `retry_policy::max_attempts_at_nobody` if that is less.

## When the first attempt fails

)";

constexpr std::string_view middle = R"(
## When every attempt fails in that way

A read that breaks off goes on behind the bytes that it got; its breaks are separate failures, so it
ends when all bytes are there. A chunk asks for the session's state before it is sent again, which
is an attempt, too.

)";

constexpr std::string_view ending = R"(
## What remains unknown

- By Google's rule a write without its precondition is not sent again after 408 or 5xx, although the
  service may have carried it out; and a delete whose reply is lost has happened or not:
  `unavailable` says neither.
- With `last_writer_wins` a refused write is sent again as it is. Where the service had carried it
  out all the same, and another writer came in between, that one's object is replaced. (A compose of
  an object onto itself would append twice, and looks first.)
- Older and newer are told by the object's creation (of a patch: its last change). A client
  remembers the youngest object that a reply has told it of. Before a call it knows so what is past:
  that object and all that are older by a millisecond. So what the same client has made or looked at
  is older, however young it is. Listings and reads are not remembered. This takes it that one
  clock stamps the objects of all buckets of a client.
- Else the `Date` of the look tells, less the time since the first request. A `Date` has no parts of
  a second: where it does not tell, the object is looked at again, ten times within 1.2 seconds.
  What another client has made less than some 130 milliseconds before the call remains untold. It is
  left as it is, and the call's own error stands. So it is with a service without a `Date`, and for
  whoever may write and not read.
- An object that the call has made and another has removed before the look is made once more.
- A request that something on the way sends twice by itself gets the second's answer, although the
  first one did it: a write with a precondition 412, a delete, a move and the completion of a
  multipart upload 404. The client has sent it once and does not know of the other, so
  `outcome_unknown` is not set.
- A move is known again by `crc32c` or by `source_conditions.if_generation_match`; with neither, its
  error stands. With `last_writer_wins`, under a precondition of the target, too, it is known by
  this: the source is gone. In each case what is under the new name is not older than the call. That
  is told as above, but the object is not looked at again where a `Date` does not tell. So one race
  passes for success: the request is lost, another writer removes the source meanwhile, and a third
  has written the new name less than a second before the call. An object that this client has made
  or looked at there is not taken for the moved one. A look before each move would tell more, and
  cost a request each time.
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
       fault::cut{.where = fault::point::in_body, .body_bytes = 40, .reset = false}},
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
