#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/upload_memory.hpp>
#include <dataflux/transfer/object_upload_request.hpp>
#include <dataflux/transfer/part_plan.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// Bytes of an object that follow those before.
struct upload_piece {
  bytes_view bytes{};
  std::uint32_t crc32c{0};
  /// What was reserved for it; given back when it has been sent.
  std::uint64_t reserved{0};
  /// Called once when nobody looks at the bytes any more, on home.
  task release{};
};

/// For features: a stream of pieces that becomes an object, whole and verified, by finish() alone;
/// what every upload of more than one request goes through. Nothing is left of it when it fails or
/// is aborted, and what could not be removed is named in the error.
///
/// - Nothing but one piece: a single insert, with the precondition. More: parts, as many in flight
///   as are given, and after the last one either complete (direct), or complete under a temporary
///   name, compare, and move with the precondition (staged).
/// - Before the first part of a staged upload it is found out whether temporary objects may be
///   removed and moved at all, by asking for that of one that does not exist, and, where that is
///   permitted, what retention policy and default hold the bucket has. If not, or if parts may not
///   be begun there, it goes on direct; if not there either, by a resumable upload. That is told in
///   committed_object::fallback, and to the watcher.
/// - A temporary object that cannot be moved after all is copied, with the same precondition; if it
///   cannot be removed either, committed_object::fallback names what is left, and later uploads to
///   that folder go direct.
/// - Temporary objects are removed by their generation: for good where the bucket keeps versions.
/// - Each piece is sent with its CRC32C, which the service compares; those of all are combined and
///   compared with the object's.
/// - A lost reply of begin, complete or move is resolved by looking (detail/upload_begin.hpp,
///   gcs/repeat_rules.hpp); an upload mark is the store's.
///
/// All members are to be called on home, completions run there; but failed() anywhere. Kept alive
/// by what it has under way. Whoever opens it must call finish() or abort() in the end. Pieces but
/// the last are multiples of part_quantum and at least as large as the store asks of a part.
class object_upload final : public std::enable_shared_from_this<object_upload> {
 public:
  template <class T>
  using completion = object_store::completion<T>;

  object_upload(const transfer_context& context, object_upload_request request);

  /// Checks the request, takes a part's worth of memory, and looks at the object that there is.
  /// When it fails nothing has to be ended. Errors: invalid_argument; resource_exhausted when there
  /// are more uploads than the memory has parts for.
  void open(completion<void> done);
  /// How large pieces should be; does not change any more, and may be read on any thread.
  const part_plan& plan() const noexcept { return plan_; }
  /// `granted` when so many bytes may be held: after others have been sent. Errors: what the upload
  /// has failed with; resource_exhausted when that much can never be had.
  void reserve(std::uint64_t bytes, completion<void> granted);
  void send(upload_piece piece);
  /// The end of the bytes, and the last of them. Errors: what anything has failed with, after
  /// everything was cleaned up.
  void finish(std::optional<upload_piece> last, completion<committed_object> done);
  /// Ends it for a reason of the caller's, unless it has failed before.
  void fail(error why);
  /// Ends it without an object, and waits for the end of the cleaning up: up to `patience` for each
  /// of its requests. An error when something is left.
  void abort(duration patience, completion<void> done);
  /// It has failed, or was aborted: no more pieces need to be made. On any thread.
  bool failed() const noexcept { return broken_.load(std::memory_order_relaxed); }
  /// For an upload that takes up an earlier one: parts that the service has, in order from the
  /// first on.
  struct begun_upload {
    multipart_upload upload{};
    std::string object{};  ///< the name that it is begun under
    commit_mode mode{commit_mode::staged};
  };
  /// Where parts go; nothing before the first reply.
  const std::optional<begun_upload>& begun() const noexcept { return begun_; }
  /// Before the first piece: goes on with it instead of beginning one.
  void resume(begun_upload earlier);
  /// A piece that the service has from then; takes the place of a send().
  void have(const uploaded_part& part);
  /// When it fails or is aborted, what the service has of it stays, to be resumed: parts, no
  /// objects. But not after data_loss, since nobody knows which of them is bad.
  void keep_parts() noexcept { keeps_parts_ = true; }
  /// Called on home when an upload in parts has begun, before the first of them is sent.
  void on_begun(unique_function<void(const begun_upload&)> began) { on_begun_ = std::move(began); }
  /// Called on home for each part that the service has taken.
  void on_part(unique_function<void(const uploaded_part&)> taken) { on_part_ = std::move(taken); }

 private:
  enum class phase : std::uint8_t { looking, ready, beginning, sending, ending, cleaning, over };
  struct numbered_piece {
    std::uint32_t number{0};
    std::uint64_t offset{0};
    upload_piece piece{};
  };
  struct stopper {
    object_upload* upload;
    void operator()() const noexcept;
  };

  // object_upload.ipp: the bytes
  result<void> prepare();
  void looked(result<object_metadata> found);
  void opened(result<void> outcome);
  void take(upload_piece piece);
  void pump();
  void send_part(numbered_piece next);
  void part_ended(numbered_piece&& sent, time_point at, result<uploaded_part> outcome);
  void send_chunk();
  void chunk_ended(numbered_piece&& sent, bool last, const result<resumable_progress>& outcome);
  void drop(numbered_piece& piece);
  // object_upload_begin.ipp: where the bytes go
  void begin();
  void probe();
  void told_of_bucket(const result<bucket_metadata>& bucket);
  void probed(const result<void>& outcome);
  void initiate();
  void initiated(result<multipart_upload> made);
  void fall_back(const std::string& why);
  void start_resumable();
  std::string folder_key() const;
  // object_upload_end.ipp: how it ends
  void insert();
  void look_before_complete();
  void complete();
  void completed(result<object_metadata> made);
  void move(object_metadata temporary);
  void copy(const error& refused);
  void discard_temporary();
  void discarded(const result<void>& outcome);
  void verify(object_metadata made, void (object_upload::*next)(object_metadata));
  void committed(object_metadata made);
  void clean();
  void cleaned(const std::string& what, const result<void>& outcome);
  void clean_object();
  void clean_temporary();
  void end();
  void deliver();

  template <class T, class Step>
  completion<T> then(Step step);
  object_store& store() const noexcept { return context_.store(); }
  bool expired();
  error named(error why) const;
  call_limits limits() const;
  call_limits cleaning_limits() const { return {.timeout = patience_}; }
  bool quiet() const noexcept { return in_flight_ == 0; }

  const transfer_context context_;
  const std::shared_ptr<detail::transfer_state> state_;
  object_upload_request request_;
  const time_point deadline_;
  std::stop_source stop_{};
  std::optional<std::stop_callback<stopper>> on_stop_{};
  phase phase_{phase::looking};
  part_plan plan_{};
  detail::upload_memory::member memory_{};
  std::optional<std::int64_t> expected_{};
  commit_mode mode_{commit_mode::staged};
  upload_path path_{upload_path::insert};
  std::string fallback_{};
  std::string temporary_{};
  std::optional<begun_upload> begun_{};
  std::optional<resumable_session> session_{};
  std::shared_ptr<bool> left_open_{std::make_shared<bool>(false)};
  std::deque<numbered_piece> queue_{};
  std::uint64_t pieces_{0};
  codec::crc32c_accumulator whole_{};
  std::vector<part_checksum> checksums_{};
  std::vector<uploaded_part> parts_{};
  std::size_t in_flight_{0};  ///< requests
  time_point asked_{};
  bool last_given_{false};
  bool may_exist_{false};  ///< an object under the temporary name
  /// 0 = not known.
  std::int64_t temporary_generation_{0};
  /// The bucket may keep what is moved or removed as a noncurrent generation.
  bool versioned_{true};
  bool keeps_parts_{false};
  bool bad_removed_{false};
  duration patience_;
  std::atomic<bool> broken_{false};
  std::optional<error> failure_{};
  std::string strays_{};
  completion<void> open_done_{};
  completion<committed_object> finish_done_{};
  completion<void> abort_done_{};
  std::optional<committed_object> made_{};
  unique_function<void(const begun_upload&)> on_begun_{};
  unique_function<void(const uploaded_part&)> on_part_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/object_upload.ipp>
#include <dataflux/transfer/impl/object_upload_begin.ipp>
#include <dataflux/transfer/impl/object_upload_end.ipp>
#endif
