#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/transfer/detail/upload_machine.hpp>

#include <support/short_memory.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// An upload_machine without a store: the caller, the driver and the service, all by hand. What the
/// service has is a model; how each request comes out is said by whoever runs it.
namespace upload_fixture {

using namespace std::chrono_literals;
using namespace dataflux::detail;  // NOLINT: what the machine says and hears is all there
using dataflux::bucket_metadata;
using dataflux::bytes_view;
using dataflux::commit_mode;
using dataflux::committed_object;
using dataflux::duration;
using dataflux::errc;
using dataflux::error;
using dataflux::object_metadata;
using dataflux::part_checksum;
using dataflux::result;
using dataflux::time_point;
using dataflux::upload_path;
using dataflux::upload_request;

inline constexpr std::uint64_t piece_size = 1000;
inline constexpr std::uint64_t largest = 100 * piece_size;
inline constexpr const char* temporary = ".tmp/0123-o";

/// How a request comes out. Those of the first line do what was asked for.
enum class kind : std::uint8_t {
  natural,
  bare,
  wrong,
  lost,
  late,
  cancelled,  // clang-format off
  denied, malformed, absent, taken, busy, broken,
  no_bucket  // clang-format on
};
inline bool has_effect(kind how) { return how <= kind::cancelled; }

inline error error_of(kind how) {
  switch (how) {
    case kind::late:
      return error(errc::deadline_exceeded, "late");
    case kind::cancelled:
      return error(errc::cancelled, "stopped");
    case kind::denied:
      return error(errc::permission_denied, "denied").with_http_status(403);
    case kind::malformed:
      return error(errc::invalid_argument, "malformed").with_http_status(400);
    case kind::absent:
      return error(errc::not_found, "absent").with_http_status(404);
    case kind::no_bucket:
      return error(errc::not_found, "no bucket").with_http_status(404).with_bucket_missing(true);
    case kind::taken:
      return error(errc::failed_precondition, "taken").with_http_status(412);
    case kind::broken:
      return error(errc::internal, "broken");
    default:
      return error(errc::unavailable, "busy").with_retryable(true);
  }
}

/// How a request can come out, the natural way first.
inline std::vector<kind> outcomes(const upload_call& call) {
  using step = upload_step;
  const step s = call.step;
  const bool makes = s == step::complete || s == step::move || s == step::copy ||
                     s == step::insert || s == step::chunk || s == step::compare_temporary ||
                     s == step::compare_target;
  // What there is cannot be said to be absent.
  const bool present = s >= step::cancel_session || s == step::abort_lost;
  std::vector<kind> all{kind::natural};
  if (makes || s == step::service_time) all.push_back(kind::bare);
  if (makes || s == step::find_parts) all.push_back(kind::wrong);
  all.insert(all.end(), {kind::lost, kind::late});
  if (call.bounded) all.push_back(kind::cancelled);
  if (!present) all.push_back(kind::absent);
  all.insert(all.end(), {kind::denied, kind::malformed, kind::taken, kind::busy, kind::broken});
  return all;
}

inline const char* name_of(upload_step step) {
  constexpr const char* names[] = {"stat_target",
                                   "probe_remove",
                                   "probe_move",
                                   "ask_bucket",
                                   "begin",
                                   "service_time",
                                   "find_uploads",
                                   "find_parts",
                                   "abort_lost",
                                   "start_session",
                                   "part",
                                   "chunk",
                                   "insert",
                                   "check_target",
                                   "complete",
                                   "compare_temporary",
                                   "compare_target",
                                   "move",
                                   "copy",
                                   "cancel_session",
                                   "abort_upload",
                                   "stat_temporary",
                                   "remove_temporary",
                                   "remove_bad"};
  return names[static_cast<std::size_t>(step)];
}

/// The upload and what is around it.
struct setting {
  upload_request request{};
  bool versioning{false};
  std::int64_t target{7};  ///< generation of what is there, 0 = nothing
  bucket_metadata bucket{};
  std::optional<upload_share::staging_lore> lore{};
  bool keeps_parts{false};
  std::uint64_t pieces{3};  ///< with the last one
  std::uint64_t had{0};     ///< of them: by an earlier upload
};

/// An upload under test. Its checks go through `expect`, with what went wrong.
class machine_run {
 public:
  using checker = std::function<void(bool, const char*)>;

  machine_run(setting s, checker expect)
      : set(std::move(s)),
        expect_(std::move(expect)),
        machine_(subject(set), {.max_object_size = largest}) {
    for (std::uint64_t i = 0; i < set.pieces; ++i) {
      const part_checksum piece{piece_size, static_cast<std::uint32_t>(11 * i + 3)};
      bytes_.push_back(piece);
      whole_.append({piece.crc32c, piece.size});
    }
    if (set.pieces == 0) bytes_.push_back({});
    target = set.target;
    if (set.keeps_parts) machine_.keep_parts();
  }

  // What the caller does.
  void open(result<void> checked = {}) { take(upload_opened{std::move(checked)}); }
  /// The next piece, or the end; false when there is nothing more to be done.
  bool go_on() {
    if (finished || !opened) return false;
    if (set.had > 0 && !failed && !resumed_) return resume();
    if (given + 1 < set.pieces) {
      ++given;
      take(upload_given{bytes_[given - 1]});
    } else {
      finish();
    }
    return true;
  }
  void finish() {
    finished = true;
    const bool last = opened && given < set.pieces;
    if (last) ++given;
    take(last ? upload_finished{bytes_[given - 1]} : upload_finished{});
  }
  void abort() {
    aborted = true;
    take(upload_aborted{5s});
  }
  void refuse(error why) { take(upload_refused{std::move(why)}); }

  /// Answers the request of that place in the queue.
  void answer(std::size_t which, kind how) {
    upload_call call = std::move(calls[which]);
    calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(which));
    call.request.visit([&](const auto& request) {
      upload_answer said = reply(call, request, how);
      compared_ = compared_ || good_temporary(call.step, said);
      take(upload_answered{call.step, call.piece, std::move(said)});
    });
  }
  void wait_over() {
    --waits;
    take(upload_waited{});
  }
  bool quiet() const { return calls.empty() && waits == 0; }

  /// What must be true when all is over.
  void check_end() {
    expect_(ended == 1, "it ends once");
    expect_(quiet(), "nothing is under way at the end");
    expect_(open_answers == 1, "open is answered once");
    expect_((commit.has_value()) == finished, "finish is answered");
    expect_((abort_answer.has_value()) == aborted, "abort is answered");
    for (std::uint64_t i = 1; i <= given; ++i) {
      if (i > set.had) expect_(released.contains(i), "each piece is released");
    }
    check_committed();
    check_left();
  }
  /// All that it has told its caller.
  std::string told() const {
    std::string all;
    if (commit) all += *commit ? (*commit)->fallback : commit->error().message();
    if (machine_.failure()) all += machine_.failure()->message();
    return all;
  }
  const std::optional<error>& failure() const { return machine_.failure(); }

  setting set;
  /// Those of the machine that do well before one fails.
  std::optional<std::int64_t> allocations{};
  bool short_of_memory{false};  ///< one has failed
  std::string trace{};
  std::string log{};
  std::vector<upload_call> calls{};
  int waits{0};
  std::uint64_t given{0};
  bool opened{false}, finished{false}, aborted{false}, failed{false};
  int ended{0}, open_answers{0};
  std::optional<result<committed_object>> commit{};
  std::optional<result<void>> abort_answer{};
  std::set<std::uint64_t> released{};
  std::vector<upload_remember> remembered{};
  // What the service has.
  std::map<std::string, std::string> uploads{};  ///< id to object
  std::int64_t live{0};                          ///< generation of the temporary object
  std::int64_t noncurrent{0};                    ///< the same
  std::int64_t target{0};
  /// Generation of a target that is not what was sent; after a failure nobody compares.
  std::int64_t bad{0};
  int sessions{0};

 private:
  static upload_request subject(const setting& s) {
    upload_request r = s.request;
    r.bucket = "b";
    r.object = "f/o";
    return r;
  }
  void note(const std::string& word) { trace += (trace.empty() ? "" : " ") + word; }
  bool resume() {
    resumed_ = true;
    uploads["earlier"] = set.request.mode == commit_mode::staged ? temporary : "f/o";
    take(upload_resumed{{{"earlier", ""}, uploads["earlier"], set.request.mode}});
    for (; given < set.had; ++given) {
      const part_checksum& piece = bytes_[given];
      take(upload_had{{static_cast<std::uint32_t>(given + 1), piece.size, piece.crc32c, "e"}});
    }
    return true;
  }

  /// One allocation of the machine's fails, if there are so many.
  std::vector<upload_action> take_short(upload_event event) {
    using dataflux::test::short_memory_everywhere;
    if (!allocations) return machine_.take(std::move(event), now_);
    std::vector<upload_action> actions;
    {
      const short_memory_everywhere now(*allocations, short_memory_everywhere::how::once);
      actions = machine_.take(std::move(event), now_);
      short_of_memory = short_of_memory || short_memory_everywhere::felt();
    }
    *allocations -= short_memory_everywhere::counted();
    if (short_of_memory) allocations.reset();
    return actions;
  }
  void take(upload_event event) {
    now_ += 1ms;
    for (upload_action& action : take_short(std::move(event))) {
      const bool late = action.holds<upload_call>() || action.holds<upload_wait>() ||
                        action.holds<upload_recall>();
      expect_(!late || ended == 0, "nothing is asked for after the end");
      action.visit([this](auto& a) { act(a); });
    }
  }
  void act(upload_call& call) {
    const bool commits = call.step == upload_step::move || call.step == upload_step::copy;
    expect_(!commits || compared_, "nothing is moved or copied before it compared equal");
    expect_(!cleaning(call.step) || calls.empty(), "cleaning up waits for what is under way");
    note(name_of(call.step));
    calls.push_back(std::move(call));
  }
  void act(const upload_wait& pause) {
    expect_(pause.wait > 0s, "a wait is one");
    note("wait");
    ++waits;
  }
  void act(const upload_recall& question) {
    expect_(question.folder == "b/f", "the folder is the object's");
    take(upload_recalled{set.lore, temporary});
  }
  void act(const upload_release& end) {
    expect_(released.insert(end.piece).second, "a piece is released once");
    expect_(end.piece > 0 && end.piece <= std::max<std::uint64_t>(given, 1), "a piece was given");
  }
  void act(upload_remember& learned) { remembered.push_back(std::move(learned)); }
  void act(const upload_tell_begun& news) {
    expect_(uploads.contains(news.begun.upload.upload_id), "what is told has begun");
    note("begun");
  }
  void act(const upload_tell_part&) {}
  void act(const upload_log& news) { log += news.line + '\n'; }
  void act(const upload_failed&) {
    expect_(!failed || short_of_memory, "it fails once");
    failed = true;
    note("failed");
  }
  void act(const upload_ended& end) {
    expect_(++ended == 1, "it ends once");
    expect_(end.committed != failed, "it is committed or has failed");
    // The driver releases those that were lost on their way.
    for (std::uint64_t i = 1; short_of_memory && i <= std::max<std::uint64_t>(given, 1); ++i) {
      released.insert(i);
    }
  }
  void act(const upload_deliver_open& answer) {
    expect_(++open_answers == 1, "open is answered once");
    opened = answer.outcome.has_value();
    note(opened ? "opened" : "refused");
  }
  void act(upload_deliver_commit& answer) {
    expect_(ended == 1 && !commit, "finish is answered once, at the end");
    commit = std::move(answer.outcome);
    note(*commit ? "committed" : "error");
  }
  void act(upload_deliver_abort& answer) {
    expect_(ended == 1 && !abort_answer, "abort is answered once, at the end");
    abort_answer = std::move(answer.outcome);
    note("aborted");
  }
  static bool cleaning(upload_step step) { return step >= upload_step::cancel_session; }

  bool matches(const object_metadata& made) const {
    return made.crc32c == whole_.crc() && made.size == whole_.length();
  }
  bool good_temporary(upload_step step, const upload_answer& said) const {
    if (step != upload_step::complete && step != upload_step::compare_temporary) return false;
    const auto& made = said.get<result<object_metadata>>();
    return made && matches(*made);
  }
  void check_committed() {
    if (!commit || !*commit) return;
    const committed_object& made = **commit;
    expect_(bad == 0 && made.object.generation == target, "what is committed is there, and good");
    expect_(matches(made.object), "what is committed is what was sent");
    expect_(made.parts == bytes_, "all parts are told");
    expect_(!aborted || abort_answer->has_value(), "nothing is left of an abort that came late");
  }
  void check_left() {
    const std::string words = told();
    const bool unsure = words.find("may have begun and be left open") != std::string::npos;
    for (const auto& [id, object] : uploads) {
      const bool kept = set.keeps_parts && machine_.begun() &&
                        machine_.begun()->upload.upload_id == id &&
                        machine_.failure()->code() != errc::data_loss;
      expect_(kept || unsure || words.find(id) != std::string::npos, "an open upload is named");
    }
    expect_((live == 0 && noncurrent == 0) || words.find(temporary) != std::string::npos,
            "a temporary object is named");
    const auto& why = machine_.failure();
    // Who had no memory to compare it, or to name it, does not know what it is.
    const bool not_known =
        short_of_memory && why && why->code() != errc::data_loss && why->outcome_unknown();
    expect_(bad == 0 || not_known || (why && why->object() == "f/o" && why->generation() == bad),
            "a bad object is named");
    const bool there = target != 0 && target != set.target;
    expect_(!there || !why || why->code() == errc::data_loss || why->outcome_unknown(),
            "of an object that is there nobody hears that it was not made");
  }

  // The service.
  object_metadata metadata(const std::string& name, std::int64_t generation, kind how) const {
    object_metadata m{.bucket = "b", .name = name, .size = whole_.length()};
    m.generation = generation;
    if (how != kind::bare) m.crc32c = whole_.crc();
    if (how == kind::wrong) m.size += 1;
    return m;
  }
  /// What was done, or why not.
  template <class T>
  static upload_answer answered(kind how, T done) {
    if (how <= kind::wrong) return result<T>(std::move(done));
    return result<T>(error_of(how).with_outcome_unknown(has_effect(how)));
  }
  static upload_answer none(kind how) {
    return how <= kind::wrong ? upload_answer(result<void>()) : result<void>(error_of(how));
  }
  object_metadata make(const std::string& object, kind how) {
    const std::int64_t generation = ++last_;
    if (object == temporary) {
      live = generation;
    } else {
      target = generation;
      bad = how == kind::wrong && !failed ? generation : 0;
    }
    return metadata(object, generation, how);
  }

  upload_answer reply(const upload_call& call, const dataflux::stat_request& r, kind how) {
    const bool own = r.object == temporary;
    const std::int64_t there = own ? live : target;
    if (there == 0 && how <= kind::wrong) how = kind::absent;
    if (call.step == upload_step::compare_target && how == kind::wrong && !failed) {
      bad = target;
    }
    return answered(how, metadata(r.object, there, how));
  }
  upload_answer reply(const upload_call& call, const dataflux::remove_request& r, kind how) {
    if (call.step == upload_step::probe_remove && has_effect(how)) return none(kind::absent);
    if (!has_effect(how)) return none(how);
    if (call.step == upload_step::remove_bad) {
      expect_(r.generation == bad && bad != 0, "only a bad object is removed");
      bad = target = 0;
      return none(how);
    }
    expect_(r.object == temporary, "nothing but the temporary object is removed");
    const bool found = r.generation == 0 ? live != 0 : r.generation == live;
    if (!found && (r.generation == 0 || r.generation != noncurrent)) return none(kind::absent);
    if (!found) noncurrent = 0;
    if (found && r.generation == 0 && set.versioning) noncurrent = live;
    if (found) live = 0;
    return none(how);
  }
  upload_answer reply(const upload_call& call, const dataflux::move_request&, kind how) {
    const bool probe = call.step == upload_step::probe_move;
    if (probe && how <= kind::wrong) how = kind::absent;
    if (probe || !has_effect(how)) return answered(how, object_metadata{});
    noncurrent = set.versioning ? live : 0;
    live = 0;
    return answered(how, make("f/o", how));
  }
  upload_answer reply(const upload_call&, const dataflux::rewrite_request&, kind how) {
    return answered(how, has_effect(how) ? make("f/o", how) : object_metadata{});
  }
  upload_answer reply(const upload_call&, const dataflux::insert_request&, kind how) {
    return answered(how, has_effect(how) ? make("f/o", how) : object_metadata{});
  }
  upload_answer reply(const upload_call&, const dataflux::bucket_request&, kind how) {
    bucket_metadata told = set.bucket;
    told.versioning = set.versioning;
    return answered(how, std::move(told));
  }
  upload_answer reply(const upload_call&, const dataflux::multipart_initiate_request& r, kind how) {
    const std::string id = "upload-" + std::to_string(++last_);
    if (has_effect(how)) uploads[id] = r.object;
    return answered(how, dataflux::multipart_upload{id, ""});
  }
  upload_answer reply(const upload_call&, const dataflux::list_page_request&, kind how) {
    dataflux::list_page page;
    if (how != kind::bare) page.served = dataflux::timestamp(1h);
    return answered(how, std::move(page));
  }
  upload_answer reply(const upload_call&, const dataflux::list_uploads_request&, kind how) {
    dataflux::upload_page page;
    for (const auto& [id, object] : uploads) {
      page.uploads.push_back({object, id, "", dataflux::timestamp(1h)});
    }
    return answered(how, std::move(page));
  }
  upload_answer reply(const upload_call&, const dataflux::list_parts_request&, kind how) {
    dataflux::part_page page;
    if (how == kind::wrong) page.parts.push_back({1, piece_size, "e", {}});
    return answered(how, std::move(page));
  }
  upload_answer reply(const upload_call&, const dataflux::multipart_abort_request& r, kind how) {
    if (has_effect(how) && uploads.erase(r.upload_id) == 0) return none(kind::absent);
    return none(how);
  }
  upload_answer reply(const upload_call&, const dataflux::resumable_start_request&, kind how) {
    sessions += how <= kind::wrong ? 1 : 0;
    return answered(how, dataflux::resumable_session{});
  }
  upload_answer reply(const upload_call& call, const dataflux::upload_part_request& r, kind how) {
    expect_(uploads.contains(r.upload_id), "a part goes to an upload that is open");
    expect_(r.part_number == call.piece && r.crc32c == bytes_[call.piece - 1].crc32c,
            "a part is sent with its number and checksum");
    return answered(how, dataflux::uploaded_part{r.part_number, piece_size, *r.crc32c, "e"});
  }
  upload_answer reply(const upload_call&, const dataflux::resumable_chunk_request& r, kind how) {
    dataflux::resumable_progress at{.persisted = r.offset + piece_size};
    if (r.last && has_effect(how)) {
      expect_(r.crc32c == whole_.crc(), "the last chunk has the whole's checksum");
      at.object = make("f/o", how);
      sessions = 0;
    }
    return answered(how, std::move(at));
  }
  upload_answer reply(const upload_call&, const dataflux::multipart_complete_request& r, kind how) {
    expect_(r.parts.size() == set.pieces, "complete names all parts");
    for (std::size_t i = 0; i < r.parts.size(); ++i) {
      expect_(r.parts[i].part_number == i + 1, "complete names parts in order");
    }
    if (!has_effect(how)) return answered(how, object_metadata{});
    uploads.erase(r.upload_id);
    return answered(how, make(r.object, how));
  }
  upload_answer reply(const upload_call&, const dataflux::resumable_cancel_request&, kind how) {
    sessions = 0;
    return none(how);
  }

  const checker expect_;
  upload_machine machine_;
  std::vector<part_checksum> bytes_{};
  dataflux::crc32c_accumulator whole_{};
  time_point now_{1000s};
  std::int64_t last_{100};
  bool resumed_{false};
  bool compared_{false};
};

}  // namespace upload_fixture
