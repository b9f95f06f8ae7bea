#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/store/detail/coordinator.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/part_plan.hpp>
#include <dataflux/transfer/detail/upload_action.hpp>
#include <dataflux/transfer/detail/upload_machine.hpp>
#include <dataflux/transfer/detail/upload_memory.hpp>
#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/transfer/upload_request.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Bytes of an object that follow those before.
struct upload_piece {
  bytes_view bytes{};
  std::uint32_t crc32c{0};
  /// What was reserved for it; given back when it has been sent.
  std::uint64_t reserved{0};
  /// Called once when nobody reads the bytes any more, on the strand.
  task release{};
};

/// For features: a stream of pieces that becomes an object, whole and verified, by finish() alone.
/// Every upload of more than one request goes through it.
///
/// What it does:
/// - Nothing but one piece is a single insert, with the precondition. More are parts, as many in
///   flight as are given. After the last one they are either completed (direct), or completed under
///   a temporary name, compared, and moved with the precondition (staged).
/// - Before the first part of a staged upload it finds out whether temporary objects may be removed
///   and moved at all. It asks for that of one that does not exist, and, where that is permitted,
///   what retention policy and default hold the bucket has. If not, or if parts may not be begun
///   there, it goes on direct; if not there either, by a resumable upload. That is told in
///   committed_object::fallback, and to the observer.
/// - A temporary object that cannot be moved after all is copied, with the same precondition. If it
///   cannot be removed either, committed_object::fallback names what is left, and later uploads to
///   that folder go direct.
/// - Temporary objects are removed by their generation: for good where the bucket keeps versions.
/// - Each piece is sent with its CRC32C, which the service compares. Those of all are combined and
///   compared with the object's.
/// - A lost reply of begin, complete or move is resolved by a stat or a listing
///   (detail/upload_begin.hpp, gcs/detail/verbs.hpp); an upload mark is the store's.
///
/// What is whose: detail/upload_machine decides all of that and knows the states. This class
/// carries its actions out on the store and feeds their outcomes back. It holds the pieces' bytes
/// and their memory, the plan of parts, what uploads of the context have learned, the completions,
/// and time: a deadline or a stop is one more failure to the machine.
///
/// Errors: the first failure. Nothing is left of an upload that fails or is aborted, and what could
/// not be removed is named in the error.
///
/// Lifetime: made by make_shared, kept alive by what it has under way. Whoever opens it must call
/// finish() or abort() in the end.
///
/// Threads: all members are to be called on the context's strand, and completions run there; but
/// failed() and plan() anywhere. A completion may call members.
///
/// Cost: a few small allocations for each part, beside those of its request.
///
/// Pieces but the last are multiples of part_quantum and at least as large as the store asks of a
/// part.
class object_upload final : public coordinator<object_upload> {
 public:
  template <class T>
  using completion = object_store::completion<T>;

  object_upload(const transfer_context& context, upload_request request);

  /// Checks the request, takes a part's worth of memory, and stats the object that there is.
  /// When it fails nothing has to be ended. Errors: invalid_argument; resource_exhausted when there
  /// are more uploads by producers than the memory has parts for. It waits for others that go on by
  /// themselves, as this one does or not: `bytes`.
  void open(upload_memory::source bytes, completion<void> done);
  /// How large pieces should be; does not change any more, and may be read on any thread.
  const part_plan& plan() const noexcept { return plan_; }
  /// `granted` when so many bytes may be held: after others have been sent. Errors: what the upload
  /// has failed with; resource_exhausted when that much can never be had.
  void reserve(std::uint64_t bytes, completion<void> granted);
  /// Gives back what reserve() has granted and no piece will name.
  void unreserve(std::uint64_t bytes);
  void send(upload_piece piece);
  /// The end of the bytes, and the last of them. Who still waits for memory gets
  /// failed_precondition. Errors: what anything has failed with, after everything was cleaned up.
  void finish(std::optional<upload_piece> last, completion<committed_object> done);
  /// Ends it for a reason of the caller's, unless it has failed before.
  void fail(error why);
  /// Its deadline has come. Requests that have it, too, end by themselves, and tell what they met.
  void time_passed() {
    timed_out_ = true;
    end_late();
  }
  /// Ends it without an object, and waits for the end of the cleaning up: up to `timeout` for each
  /// of its requests. An error when something is left.
  void abort(duration timeout, completion<void> done);
  /// It has failed, or was aborted: no more pieces need to be made. On any thread.
  bool failed() const noexcept { return broken_.load(std::memory_order_relaxed); }
  /// Nothing is under way any more. What has not answered was lost for want of memory.
  void idle() noexcept;
  /// Where parts go; nothing before the first reply.
  const std::optional<begun_upload>& begun() const noexcept { return machine_.begun(); }
  /// Before the first piece: goes on with it instead of beginning one.
  void resume(begun_upload earlier);
  /// A piece that the service has from then; takes the place of a send().
  void have(const uploaded_part& part);
  /// When it fails or is aborted, what the service has of it stays, to be resumed: parts, no
  /// objects. But not after data_loss, since nobody knows which of them is bad.
  void keep_parts() noexcept { machine_.keep_parts(); }
  /// Called on the strand when an upload in parts has begun, before the first of them is sent.
  void on_begun(unique_function<void(const begun_upload&)> began) { on_begun_ = std::move(began); }
  /// Called on the strand, once, when it fails or is aborted: before failed() says so, and before
  /// the cleaning up.
  void on_failed(unique_function<void(const error&)> failed) { on_failed_ = std::move(failed); }
  /// Called on the strand for each part that the service has taken.
  void on_part(unique_function<void(const uploaded_part&)> taken) { on_part_ = std::move(taken); }

 private:
  /// Asked of the store, or of time, and not answered yet.
  struct asked {
    upload_step step;
    std::uint32_t piece;
    void (*lost)(object_upload&, const asked&);
  };
  static void lost_wait(object_upload& self, const asked& /*what*/);
  template <class Value>
  static void lost_call(object_upload& self, const asked& what);
  /// It has been answered, or is about to be.
  void answered(upload_step step, std::uint32_t piece) noexcept;

  result<void> prepare();
  void join(upload_memory::source bytes);
  void joined(result<void> outcome);
  template <class Event>
  void tell(Event what) noexcept;
  void advance(upload_event event) noexcept;
  void act_all() noexcept;
  void give_up() noexcept;
  void end_given_up() noexcept;
  // An overload for each action of the machine, object_upload_actions.ipp.
  template <class Action>
  void act_short(Action& action);
  void act(upload_call& call);
  void act(const upload_wait& pause);
  void act(const upload_recall& question);
  void act(const upload_release& end);
  void act(upload_remember& learned);
  void act(const upload_tell_begun& news);
  void act(const upload_tell_part& news);
  void act(const upload_log& news);
  void act(const upload_failed& failed);
  void act(const upload_ended& end);
  void act(upload_deliver_open& answer);
  void act(upload_deliver_commit& answer);
  void act(upload_deliver_abort& answer);

  /// Ends it after its deadline, when no request is under way that has it.
  void end_late();
  /// Keeps it under the number that the machine will give it.
  std::optional<part_checksum> hold(upload_piece& piece) noexcept;
  void let_go(upload_piece& piece) noexcept;
  void release_all() noexcept;
  /// What it has failed with.
  std::optional<error> failure() const noexcept;

  const transfer_context context_;
  const std::shared_ptr<transfer_state> state_;
  const upload_request request_;
  part_plan plan_{};
  upload_memory::member memory_{};
  upload_machine machine_;
  std::vector<upload_action> actions_{};
  std::size_t next_action_{0};
  std::vector<asked> asked_{};
  bool acting_{false};
  bool given_up_{false};  ///< memory was too short for the machine, even to fail
  bool joining_{false};
  bool ended_{false};
  bool timed_out_{false};
  std::ptrdiff_t bounded_{0};                       ///< requests under way that have the deadline
  std::map<std::uint32_t, upload_piece> pieces_{};  ///< by number, until they are released
  std::atomic<bool> broken_{false};
  completion<void> open_done_{};
  completion<committed_object> finish_done_{};
  completion<void> abort_done_{};
  unique_function<void(const begun_upload&)> on_begun_{};
  unique_function<void(const uploaded_part&)> on_part_{};
  unique_function<void(const error&)> on_failed_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/object_upload.ipp>
#include <dataflux/transfer/impl/object_upload_actions.ipp>
#endif
