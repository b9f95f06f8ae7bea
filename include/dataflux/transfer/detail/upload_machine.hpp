#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/upload_action.hpp>
#include <dataflux/transfer/detail/upload_begin.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Any of the requests that begin an object.
template <class Request>
Request with_attributes(const upload_request& from, const std::string& object) {
  Request r;
  r.bucket = from.bucket;
  r.object = object;
  r.attributes = from.attributes;
  return r;
}

/// All decisions of an object_upload. Pure: it takes an event and answers what is to be
/// done next. It knows no clock, store, executor or memory; object_upload carries its actions out,
/// in order, and tells how they came out.
///
/// Phases, and what they wait for:
///
///     looking    the stat of the target; then open() is answered
///     ready      the first piece (begin), or the end of less than one (insert)
///     beginning  what is known of the folder, probes, a begun upload or session. Each refusal is
///                answered by the next way: staged, direct, resumable
///     sending    pieces, and the outcomes of parts (all at once) or chunks (one at a time)
///     ending     one after the other: check_target (direct) or nothing, complete, compare,
///                move or else copy, compare, remove_temporary
///     cleaning   after a failure: first the outcome of all that is under way, since what crosses
///                it would be missed. Then, one after the other: cancel the session, abort the
///                upload, remove the temporary object, remove a bad object
///     over       nothing. A finish() or abort() that comes now is answered at once
///
/// Whatever fails goes to cleaning, and only the first failure counts. From an object that is
/// committed on nothing fails any more.
///
/// What is whose: the machine numbers the pieces, and says when one is sent and released; the
/// driver holds their bytes. The machine sends each part at once, so that the memory which the
/// driver grants bounds the number in flight.
///
/// Promises, whatever the outcomes are: each call, wait and recall is answered before upload_ended,
/// which comes once, and after which there is no call. Each open, finish and abort is answered
/// once. Each piece that was given is released once. A temporary object is moved or copied only if
/// it compared equal. What was begun and not removed is named in the error, or in
/// committed_object::fallback; a resumable session, which ends by itself, is not.
class upload_machine {
 public:
  /// A store that cannot rename objects ends uploads directly, under a condition where it has that.
  upload_machine(upload_request request, const store_traits& store);

  /// What to do, in order. `now` is only compared with other events'.
  /// Short of memory it fails with that; where even that needs more, it throws std::bad_alloc, and
  /// is not to be used any more.
  std::vector<upload_action> take(upload_event event, time_point now);

  /// As object_upload::keep_parts.
  void keep_parts() noexcept { keeps_parts_ = true; }
  /// What it has failed with.
  const std::optional<error>& failure() const noexcept { return failure_; }
  /// The upload in parts, from its begin until it is completed or aborted.
  const std::optional<begun_upload>& begun() const noexcept { return begun_; }
  /// The object may be there: a request that makes it is under way, or was not answered by a no.
  bool may_be_made() const noexcept { return may_be_made_; }
  /// Given so far. The next one has the number behind it.
  std::uint64_t pieces() const noexcept { return given_; }

 private:
  enum class phase : std::uint8_t { looking, ready, beginning, sending, ending, cleaning, over };
  struct waiting_piece {
    std::uint32_t number{0};
    std::uint64_t offset{0};
  };
  /// Uploaded, and not under its own name yet. `there`: it may exist, or a generation of it.
  struct temporary_object {
    std::string name{};
    std::int64_t generation{0};  ///< 0 = not known
    bool there{false};
  };

  // upload_machine.ipp: the bytes, and where they go
  void on(upload_opened event);
  void on(upload_resumed event);
  void on(const upload_had& event);
  void on(const upload_given& event);
  void on(const upload_finished& event);
  void on(upload_refused event);
  void on(const upload_aborted& event);
  void on(upload_answered event);
  void on(upload_waited event);
  void on(upload_recalled event);
  void answered_begin(upload_answered&& event);
  void answered_object(upload_answered&& event);
  void target_found(const result<object_metadata>& found);
  void opened();
  void open_failed(error why);
  void add(part_checksum piece);
  void advance();
  void send_part(waiting_piece next);
  void part_ended(std::uint32_t number, result<uploaded_part> outcome);
  void send_chunk();
  void chunk_ended(std::uint32_t number, const result<resumable_progress>& outcome);
  void begin();
  void probe();
  void probed(const error* refusal);
  void bucket_told(const result<bucket_metadata>& bucket);
  void initiate();
  void go_on_beginning(upload_begin::step next);
  void initiated(result<multipart_upload> made);
  void start_session();
  void session_started(const result<resumable_session>& made);
  void fall_back(const std::string& why);
  // upload_machine_end.ipp: how it ends
  void insert();
  void insert_ended(std::uint32_t number, result<object_metadata> made);
  void target_checked(const result<object_metadata>& found);
  void complete();
  void completed(result<object_metadata> made);
  void compare(object_metadata made, upload_step step);
  void compared(result<object_metadata> found, upload_step step);
  void move(const object_metadata& temporary);
  void moved(result<object_metadata> made);
  void copied(result<object_metadata> made);
  void committed(object_metadata made);
  bool makes_object(upload_step step) const noexcept;
  void answered_make(const result<object_metadata>& made) noexcept {
    may_be_made_ = may_be_made_ && (made || made.error().outcome_unknown());
  }
  void remove_temporary();
  void temporary_found(const result<object_metadata>& found);
  void temporary_removed(const result<void>& outcome);
  void fail(error why);
  void fall_short();
  void release_waiting();
  void clean();
  void cleaned(const std::string& what, const result<void>& outcome);
  void end();
  void deliver();

  void act(upload_action action) { actions_.push_back(std::move(action)); }
  /// Sends it by the upload's limits.
  void call(upload_step step, upload_verb request, std::uint32_t piece = 0);
  /// Sends it by the time limit for cleaning up.
  template <class Request>
  void call_cleaning(upload_step step, Request request);
  errc unmet() const noexcept;
  std::string meanwhile() const;
  error named(error why) const;
  error removed(error why) const;
  std::string folder() const;
  std::string url_of(const std::string& object) const;
  std::string where_to_see() const;
  /// Not under a temporary name first.
  bool makes_it_at_once() const noexcept { return path_ != upload_path::multipart || !staged(); }
  bool staged() const noexcept { return mode_ == commit_mode::staged; }

  const upload_request request_;
  const store_traits store_;
  std::vector<upload_action> actions_{};
  time_point now_{};

  phase phase_{phase::looking};
  std::size_t in_flight_{0};  ///< actions that will be answered
  std::optional<std::int64_t> expected_;
  bool unseen_{false};  ///< the target, which may not be looked at
  commit_mode mode_;
  upload_path path_{upload_path::insert};
  std::string fallback_{};
  /// The bucket may keep what is moved or removed as a noncurrent generation.
  bool versioned_{true};

  std::vector<part_checksum> pieces_{};
  std::uint64_t given_{0};  ///< of them; one more where there was no memory for the last
  crc32c_accumulator whole_{};
  std::deque<waiting_piece> waiting_{};
  std::vector<uploaded_part> parts_{};
  bool last_given_{false};

  std::optional<upload_begin> beginning_{};
  std::optional<begun_upload> begun_{};
  std::optional<resumable_session> session_{};
  temporary_object temporary_{};
  std::optional<error> move_refused_{};
  std::optional<committed_object> made_{};
  bool may_be_made_{false};

  std::optional<error> failure_{};
  std::int64_t bad_generation_{0};  ///< of the object itself, to be removed
  std::string aborted_{};           ///< the upload's id, while it is being aborted
  std::string orphans_{};           ///< what was begun and is left
  bool keeps_parts_{false};
  bool told_end_{false};  ///< upload_ended
  duration cleaning_timeout_;

  // Who has not been answered.
  bool open_waits_{false};
  bool finish_waits_{false};
  bool abort_waits_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/upload_machine.ipp>
#include <dataflux/transfer/impl/upload_machine_end.ipp>
#endif
