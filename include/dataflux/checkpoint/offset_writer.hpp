#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/transfer/upload_request.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
struct offset_state;
class writer_opening;
}  // namespace detail

/// Writes an object of a known size from many threads: each writes bytes at offsets of its own, in
/// any order, and each byte is written exactly once. The object appears by commit() alone, whole
/// and verified. Whatever else happens, what was there before stays.
///
///     auto writer = offset_writer::open(context, {.bucket = "b", .object = "step-7.pt"}, size);
///     // on each of several threads:
///     writer->write_at(offset, bytes);
///     // when all have returned:
///     auto made = writer->commit();             // the object's metadata, how it went
///
/// The size decides at open() where parts begin: part_size() apart. A part is sent when all of its
/// bytes are there, in whatever order parts fill. How parts become an object is
/// upload_request::mode, as with a checkpoint_writer. An object of one part is one insert, at
/// commit(). The fallback of a checkpoint_writer to a resumable upload does not exist here, since
/// that takes bytes in order: where uploads in parts are not permitted the writer fails.
///
/// Not committed is aborted: by abort(), and by the destructor. A process that is killed leaves an
/// open upload or a temporary object, which find_leftovers() lists and remove_leftovers() removes.
///
/// Without blocking: try_write_at() takes what there is room for, and notify() tells when there may
/// be more; submit_ and start_ forms do the rest.
///
/// Errors: some refuse one call, of which no byte is taken, and the writer goes on:
/// - invalid_argument: bytes that have been written or are being written; it names both ranges.
/// - out_of_range: beyond the size.
/// - resource_exhausted: memory for one more begun part is missing; it names the parts that are
///   begun. Filling one of them makes room.
/// - failed_precondition of commit(): bytes are missing, and it names the first range of them; or a
///   write_at() has not returned.
/// Any other error is the upload's and ends it: all members give it from then on, and nothing is
/// left behind; where that failed it says so. permission_denied names the permissions that uploads
/// in parts take. failed_precondition when another writer has written the object since open()
/// (already_exists where if_generation_match is 0); aborted when another has removed what was
/// uploaded; failed_precondition, too, for any use after commit() or abort(), and in the child of a
/// fork.
///
/// Limits: upload_request::limits are the whole upload's, which they end. Those of a call end that
/// call with cancelled or deadline_exceeded, and say how it leaves the writer:
/// - write_at(): it goes on, and no byte of the call is taken, as long as none of them was copied
/// or
///   sent. After that the upload ends with this error: for the service may have some of them.
/// - commit(): it is over, and cleaned up. Whether the object was made is not known where its last
///   request was under way; it is whole if it was.
/// - abort(): it is over, and the cleaning up goes on behind; what that leaves is told to the
///   observer.
///
/// Lifetime: the bytes of write_at() are the caller's again when it returns. The context's store
/// outlives the writer, and its destruction. The destructor waits 5 s for the cleaning up, and
/// leaves the rest to the threads of the store; it does not wait after a commit or an abort, nor on
/// the context's strand. Movable, while no thread is inside a member.
///
/// Threads: write_at(), try_write_at(), notify(), written() and abort() on any threads at once; an
/// abort() ends each write_at() with an error. commit(), a move and the destructor when neither
/// write is under way. write_at(), commit() and abort() block: they are not for completions, nor
/// for a virtual_scheduler. The others are.
///
/// Cost: a part that lies within one write_at() is sent from where it is, and the call waits until
/// it has been sent. All else is copied once into its part. A begun part holds its memory, which
/// counts under transfer_options::upload_memory, until it is full and sent: so write in an order
/// that leaves few parts begun, or parts as wholes. Of the memory one part's worth is for parts on
/// their way, so that a call waits for the service alone and never for another thread's bytes. A
/// short lock at begin and end of a call and of each of its parts. try_write_at() copies all bytes.
class offset_writer {
 public:
  /// Looks at what is there, by one request. `size` takes the place of request.size_hint. Errors:
  /// invalid_argument, before any request; out_of_range for more than an object may have;
  /// resource_exhausted when parts of request.part_size do not reach so far, or when there are more
  /// writers than the memory has parts for; those of the store.
  static result<offset_writer> open(const transfer_context& context, upload_request request,
                                    std::uint64_t size) {
    return submit_open(context, std::move(request), size).take();
  }
  static operation<offset_writer> submit_open(const transfer_context& context,
                                              upload_request request, std::uint64_t size);
  /// `done` is called on the context's strand; in the child of a fork inside the call.
  static void start_open(const transfer_context& context, upload_request request,
                         std::uint64_t size, object_store::completion<offset_writer> done);

  offset_writer(offset_writer&&) noexcept = default;
  offset_writer& operator=(offset_writer&& other) noexcept;
  ~offset_writer() { drop(); }

  /// Writes `bytes` from byte `offset` of the object on. Waits up to `limits`.
  result<void> write_at(std::uint64_t offset, bytes_view bytes, const call_limits& limits = {});
  /// Writes what there is room for now, from the first byte on, and gives how many; 0 = no room.
  /// Never waits. The first call for a part begins it: that asks for its memory, and takes nothing.
  /// Errors: as of write_at(); resource_exhausted comes with the call after the one that asked.
  result<std::size_t> try_write_at(std::uint64_t offset, bytes_view bytes);
  /// Pushes {tag, ok} into `queue` once, as soon as memory that a write has asked for is there or
  /// refused, or the writer is over; now where nothing is asked for. Ask again when a try has taken
  /// less than all. {tag, failed_precondition} in the child of a fork. The queue outlives the
  /// writer.
  void notify(completion_queue& queue, std::uint64_t tag);

  /// Waits for all parts, makes the object and verifies it.
  result<committed_object> commit(call_limits limits = {}) {
    return submit_commit(std::move(limits)).take();
  }
  /// The same while the caller does something else; the writer is to be destroyed or assigned to
  /// afterwards. Cancelling the operation, or destroying it, is a stop.
  operation<committed_object> submit_commit(call_limits limits = {});
  /// `done` is called on the context's strand; inside the call where nothing can be committed.
  void start_commit(object_store::completion<committed_object> done,
                    const call_limits& limits = {});

  /// Gives up and cleans up. An error names what could not be removed. Nothing after commit().
  result<void> abort(call_limits limits = {}) { return submit_abort(std::move(limits)).take(); }
  operation<void> submit_abort(call_limits limits = {});
  /// `done` is called on the context's strand; inside the call where there is nothing to abort.
  void start_abort(object_store::completion<void> done, const call_limits& limits = {});

  /// Of the object.
  std::uint64_t size() const noexcept;
  /// Bytes of each part but the last, for who wants to write parts as wholes.
  std::uint64_t part_size() const noexcept;
  /// Bytes so far, those included that a write_at() under way has taken on. In the child of a fork
  /// 0.
  std::uint64_t written() const;

 private:
  friend class detail::writer_opening;
  explicit offset_writer(std::shared_ptr<detail::offset_state> state) noexcept
      : state_(std::move(state)) {}
  static void open_with(const transfer_context& context, upload_request request, std::uint64_t size,
                        const std::stop_token& stop, object_store::completion<offset_writer> done);
  void drop() noexcept;
  std::shared_ptr<detail::offset_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/offset_writer.ipp>
#endif
