#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/transfer/upload_request.hpp>

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
/// Errors: some refuse one call, of which no byte is taken, and the writer goes on:
/// - invalid_argument: bytes that have been written or are being written; it names both ranges.
/// - out_of_range: beyond the size.
/// - resource_exhausted: memory for one more begun part is missing; it names the parts that are
///   begun. Filling one of them makes room.
/// - failed_precondition of commit(): bytes are missing, and it names the first range of them; or a
///   write_at() has not returned.
/// Any other error is the upload's and ends it: all members give it from then on, and nothing is
/// left behind; where that failed it says so. permission_denied names the permissions that uploads
/// in parts take. failed_precondition (already_exists where there was none) when another writer has
/// replaced the object since open(); failed_precondition, too, for any use after commit() or
/// abort(), and in the child of a fork.
///
/// Lifetime: the bytes of write_at() are the caller's again when it returns. The context's store
/// outlives the writer, and its destruction. The destructor waits 5 s for the cleaning up, and
/// leaves the rest to the threads of the store. Movable, while no thread is inside a member.
///
/// Threads: write_at(), written() and abort() on any threads at once; an abort() ends each
/// write_at() with an error. commit(), a move and the destructor when no write_at() is under way.
/// Blocking members are not for completions, nor for a virtual_scheduler.
///
/// Cost: a part that lies within one write_at() is sent from where it is, and the call waits until
/// it has been sent. All else is copied once into its part. A begun part holds its memory, which
/// counts under transfer_options::upload_memory, until it is full and sent: so write in an order
/// that leaves few parts begun, or parts as wholes. Of the memory one part's worth is for parts on
/// their way, so that a call waits for the service alone and never for another thread's bytes. A
/// short lock at begin and end of a call and of each of its parts.
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

  /// Writes `bytes` from byte `offset` of the object on.
  result<void> write_at(std::uint64_t offset, bytes_view bytes);

  /// Waits for all parts, makes the object and verifies it.
  result<committed_object> commit() { return submit_commit().take(); }
  /// The same while the caller does something else; the writer is to be destroyed or assigned to
  /// afterwards. Destroying the operation cancels the commit.
  operation<committed_object> submit_commit();
  /// `done` is called on the context's strand; inside the call where nothing can be committed.
  void start_commit(object_store::completion<committed_object> done);

  /// Gives up and cleans up. An error names what could not be removed. Nothing after commit().
  result<void> abort() { return submit_abort().take(); }
  operation<void> submit_abort();
  /// `done` is called on the context's strand; inside the call where there is nothing to abort.
  void start_abort(object_store::completion<void> done);

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
  void commit_with(const std::stop_token& stop, object_store::completion<committed_object> done);
  void drop() noexcept;
  std::shared_ptr<detail::offset_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/offset_writer.ipp>
#endif
