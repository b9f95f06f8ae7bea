#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/transfer/upload_request.hpp>
#include <dataflux/unique_function.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
struct writer_state;
struct interruptible;
}  // namespace detail

/// Writes an object as a stream of unknown length, in bounded memory. The object appears only by
/// commit(), whole and verified. In all other cases the previous object stays.
///
///     auto writer = checkpoint_writer::open(context, {.bucket = "b", .object = "step-7.pt"});
///     for (...) writer->write(bytes);           // as they come, pieces of any size
///     auto made = writer->commit();             // the object's metadata, how it went
///
/// Less than a part (8 to 32 MiB) is one insert. More is sent in parts, several in flight while the
/// next one fills; upload_request::mode says how they become an object. Each part is sent with its
/// CRC32C, computed during the copy. The combined checksum is compared with the object's before it
/// becomes visible (staged).
///
/// Without commit() the upload is aborted: by abort(), or by the destructor. A killed process
/// leaves an open upload or a temporary object, which find_leftovers() lists and remove_leftovers()
/// removes.
///
/// Without blocking: try_write() takes what fits, and notify() signals more room; submit_ and
/// start_ forms do the rest. A program with a single thread writes
///
///     auto some = writer->try_write(bytes);     // how many, from the first on
///     if (some.value() < bytes.size()) writer->notify(queue, 7);    // {7, ok}: try the rest again
///
/// Errors: any write() may report that an earlier part failed. After the first error all members
/// return it, and nothing is left behind; if cleaning up failed, the error says so. Errors name
/// bucket, object and part. failed_precondition when another writer wrote the object since open()
/// (already_exists if if_generation_match is 0); aborted when another program removed the upload.
/// failed_precondition, too, for a write() after commit(), a second commit(), and in the child of a
/// fork.
///
/// Lifetime: the context's store outlives the writer. The destructor waits up to 5 s for the
/// cleanup, and leaves the rest to the store's threads. It does not wait after a commit or an
/// abort, or on the context's strand. Movable.
///
/// Limits: upload_request::limits end the whole upload. Limits of a call end that call with
/// cancelled or deadline_exceeded, and leave the writer so:
/// - write(), write_borrowed(): the writer stays open. written() counts the bytes taken; they are
///   part of the object.
/// - commit(): the writer has ended and was cleaned up. If the last request was under way, the
///   object may exist; if it does, it is whole.
/// - abort(): the writer has ended, and the cleanup continues in the background. The observer hears
///   of leftovers.
///
/// Threads: one thread at a time uses a writer; a concurrent call fails with failed_precondition at
/// once, without any effect. write(), write_borrowed(), commit() and abort() block: they are not
/// for completions, nor for a virtual_scheduler. The others are.
///
/// Cost: one copy of each byte, none with write_borrowed(). write() waits when all of
/// transfer_options::upload_memory is in use: that is the back-pressure. Writers of one context
/// share that memory, and each owns one part: it never waits for another writer's producer.
class checkpoint_writer {
 public:
  /// Stats the object, by one request. Errors: invalid_argument, before any request;
  /// resource_exhausted when the memory has no part left for another writer; those of the store.
  static result<checkpoint_writer> open(const transfer_context& context, upload_request request) {
    return submit_open(context, std::move(request)).take();
  }
  static operation<checkpoint_writer> submit_open(const transfer_context& context,
                                                  upload_request request);
  /// `done` is called on the context's strand; in the child of a fork inside the call.
  static void start_open(const transfer_context& context, upload_request request,
                         object_store::completion<checkpoint_writer> done);

  checkpoint_writer(checkpoint_writer&&) noexcept = default;
  checkpoint_writer& operator=(checkpoint_writer&& other) noexcept;
  ~checkpoint_writer() { drop(); }

  /// Appends a copy of the bytes. Waits for room, up to `limits`. Cost: one copy.
  result<void> write(bytes_view bytes, const call_limits& limits = {});
  /// Appends the bytes that fit now, from the first on, and returns their number; 0 = no room.
  /// Never waits. The first call for a part only requests its memory. A call takes one part at
  /// most. Cost: one copy.
  result<std::size_t> try_write(bytes_view bytes);

  /// Appends without a copy, except for less than half a part at either end. The bytes must not
  /// change until `released` is called: on a thread of the store, or inside the call, as its last
  /// step, if all of it was copied. Without `released` they must stay until commit() or abort()
  /// returns without the error of a limit, or until the destructor of an open writer has waited, up
  /// to 5 s. Returns when all bytes are queued, or `limits` passed. `released` is always called, or
  /// destroyed if it was not called within 5 s of the destructor.
  result<void> write_borrowed(bytes_view bytes, unique_function<void()> released = {},
                              const call_limits& limits = {});
  /// The same for the bytes that fit now, as try_write(). `released` belongs to the bytes taken,
  /// and is not called if none were. To get a queue's event instead of a callback:
  ///
  ///     writer->try_write_borrowed(bytes, [&queue] { queue.push({8, errc::ok}); });
  result<std::size_t> try_write_borrowed(bytes_view bytes, unique_function<void()> released = {});

  /// Pushes {tag, ok} into `queue` once, as soon as try_write() has room or an error; at once if it
  /// has already, as after a commit or abort. Ask again after a try that took less than all. From
  /// then on the writer holds the part's memory. {tag, failed_precondition} if the caller may not
  /// use the writer. The queue outlives the writer.
  void notify(completion_queue& queue, std::uint64_t tag);

  /// Sends the rest, waits for all parts, makes the object and verifies it.
  result<committed_object> commit(call_limits limits = {});
  /// The same without blocking; afterwards only destroy the writer or assign to it. Cancelling or
  /// destroying the operation is a stop.
  operation<committed_object> submit_commit(call_limits limits = {});
  /// `done` is called on the context's strand, or inside the call if nothing can be committed.
  void start_commit(object_store::completion<committed_object> done,
                    const call_limits& limits = {});

  /// Aborts and cleans up. An error names what could not be removed. No effect after commit().
  result<void> abort(call_limits limits = {});
  operation<void> submit_abort(call_limits limits = {});
  /// `done` is called on the context's strand, or inside the call if there is nothing to abort.
  void start_abort(object_store::completion<void> done, const call_limits& limits = {});

  /// Bytes so far.
  std::uint64_t written() const noexcept;

 private:
  friend struct detail::interruptible;
  explicit checkpoint_writer(std::shared_ptr<detail::writer_state> state) noexcept
      : state_(std::move(state)) {}
  static void open_with(const transfer_context& context, upload_request request,
                        const std::stop_token& stop,
                        object_store::completion<checkpoint_writer> done);
  void drop() noexcept;
  std::shared_ptr<detail::writer_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/checkpoint_writer.ipp>
#endif
