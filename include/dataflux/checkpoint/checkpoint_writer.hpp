#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/detail/unique_function.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/transfer/upload_request.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
struct writer_state;
}  // namespace detail

/// Writes an object while its bytes are being made, in bounded memory, from a stream whose length
/// need not be known. The object appears by commit() alone, whole and verified. Whatever else
/// happens, what was there before stays.
///
///     auto writer = checkpoint_writer::open(context, {.bucket = "b", .object = "step-7.pt"});
///     for (...) writer->write(bytes);           // as they come, pieces of any size
///     auto made = writer->commit();             // the object's metadata, how it went
///
/// Less than a part (8 to 32 MiB) is one insert. More goes in parts, several in flight while the
/// next one fills: how they become an object is upload_request::mode. Parts are sent with their
/// CRC32C, which is computed while they are copied. Those of all are combined and compared with the
/// object's before anybody can see it (staged).
///
/// Not committed is aborted: by abort(), and by the destructor. A process that is killed leaves an
/// open upload or a temporary object, which find_leftovers() lists and remove_leftovers() removes.
///
/// Without blocking: try_write() takes what there is room for, and notify() tells when there is
/// more; submit_ and start_ forms do the rest. A program that has one thread for all goes
///
///     auto some = writer->try_write(bytes);     // how many, from the first on
///     if (some.value() < bytes.size()) writer->notify(queue, 7);    // {7, ok}: try the rest again
///
/// Errors: they come from the member that notices; any write() may say that an earlier part has
/// failed. After the first error all members give it, and nothing is left behind; where that failed
/// it says so. They name bucket, object and part. failed_precondition when another writer has
/// written the object since open() (already_exists where if_generation_match is 0);
/// aborted when another has removed what was uploaded; failed_precondition, too, for a write()
/// after commit(), a second commit(), and in the child of a fork.
///
/// Lifetime: the context's store outlives the writer, and its destruction. The destructor waits 5 s
/// for the cleaning up, and leaves the rest to the threads of the store; it does not wait after a
/// commit or an abort, nor on the context's strand. Movable.
///
/// Limits: upload_request::limits are the whole upload's, which they end. Those of a call end that
/// call with cancelled or deadline_exceeded, and say how it leaves the writer:
/// - write(), write_borrowed(): it goes on. written() says how many of the bytes were taken; they
/// are
///   as good as any others.
/// - commit(): it is over, and cleaned up. Whether the object was made is not known where its last
///   request was under way; it is whole if it was.
/// - abort(): it is over, and the cleaning up goes on behind; what that leaves is told to the
///   observer.
///
/// Threads: one at a time uses a writer, each writer its own; who comes while another is inside
/// gets failed_precondition at once, and nothing of the call is done. write(), write_borrowed(),
/// commit() and abort() block: they are not for completions, nor for a virtual_scheduler. The
/// others are.
///
/// Cost: one copy of each byte, none with write_borrowed(). write() waits when all of
/// transfer_options::upload_memory is in use: that is the back-pressure. Writers of one context
/// share that memory and each has a part of its own: one never waits for another one's producer.
class checkpoint_writer {
 public:
  /// Stats the object, by one request. Errors: invalid_argument, before any request;
  /// resource_exhausted when there are more writers than the memory has parts for; those of the
  /// store.
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

  /// Appends. The bytes are the caller's again when it returns. Waits for room, up to `limits`.
  /// Cost: one copy.
  result<void> write(bytes_view bytes, const call_limits& limits = {});
  /// Appends what there is room for now, from the first byte on, and gives how many; 0 = no room.
  /// Never waits. The first call for a part asks for its memory and takes nothing of it, so that
  /// one call takes a part at most. Cost: one copy.
  result<std::size_t> try_write(bytes_view bytes);

  /// Appends without a copy but for what is less than half a part at either end. The bytes must
  /// stay as they are until `released` is called: on a thread of the store, or inside the call,
  /// behind its last step, where all of it was copied. Without `released` that is when commit() or
  /// abort() has returned without the error of a limit, or a writer is destroyed on which neither
  /// was called: then it waits up to 5 s. Returns when
  /// all of it has been put on its way, or `limits` passed; `released` is called, or destroyed
  /// without a call where it was not called within 5 s of a destructor, in any case.
  result<void> write_borrowed(bytes_view bytes, unique_function<void()> released = {},
                              const call_limits& limits = {});
  /// The same of what there is room for now, as try_write(); `released` is for what was taken, and
  /// is not called where that is nothing. To be told without a callback of one's own:
  ///
  ///     writer->try_write_borrowed(bytes, [&queue] { queue.push({8, errc::ok}); });
  result<std::size_t> try_write_borrowed(bytes_view bytes, unique_function<void()> released = {});

  /// Pushes {tag, ok} into `queue` once, as soon as try_write() has something to say: room, or an
  /// error; now if it has already. A writer that was committed or aborted has. Ask again when a try
  /// has taken less than all. The part's memory is held for the writer from then on. {tag,
  /// failed_precondition} where the caller may not use the writer. The queue outlives the writer.
  void notify(completion_queue& queue, std::uint64_t tag);

  /// Sends the rest, waits for all parts, makes the object and verifies it.
  result<committed_object> commit(call_limits limits = {});
  /// The same while the caller does something else; the writer is to be destroyed or assigned to
  /// afterwards. Cancelling the operation, or destroying it, is a stop.
  operation<committed_object> submit_commit(call_limits limits = {});
  /// `done` is called on the context's strand; inside the call where nothing can be committed.
  void start_commit(object_store::completion<committed_object> done,
                    const call_limits& limits = {});

  /// Gives up and cleans up. An error names what could not be removed. Nothing after commit().
  result<void> abort(call_limits limits = {});
  operation<void> submit_abort(call_limits limits = {});
  /// `done` is called on the context's strand; inside the call where there is nothing to abort.
  void start_abort(object_store::completion<void> done, const call_limits& limits = {});

  /// Bytes so far.
  std::uint64_t written() const noexcept;

 private:
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
