#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/checkpoint/detail/writer_state.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/transfer/object_upload_request.hpp>
#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/unique_function.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// Writes an object while its bytes are being made, in bounded memory, from a stream whose length
/// need not be known. The object appears by commit() alone, whole and verified; whatever else
/// happens, what was there before stays.
///
///     auto writer = checkpoint_writer::open(context, {.bucket = "b", .object = "step-7.pt"});
///     for (...) writer->write(bytes);           // as they come, pieces of any size
///     auto made = writer->commit();             // the object's metadata, how it went
///
/// Less than a part (8 to 32 MiB, see part_plan_options) is one insert. More goes in parts, several
/// in flight while the next one fills: how they become an object is object_upload_request::mode.
/// Parts are sent with their CRC32C, which is computed while they are copied; those of all are
/// combined and compared with the object's before anybody can see it (staged).
///
/// write() copies into a part's buffer, and waits when all of transfer_options::upload_memory is in
/// use: that is the back-pressure. Writers of one context share that memory and each has a part of
/// its own: one never waits for another one's producer. write_borrowed() sends from the caller's
/// memory.
///
/// Errors come from the member that notices: any write() may say that an earlier part has failed.
/// After the first error all members give it, and nothing is left behind; where that failed it says
/// so. They name bucket, object and part. failed_precondition (already_exists where there was none)
/// when another writer has replaced the object since open(); failed_precondition, too, for a
/// write() after commit(), a second commit(), and in the child of a fork.
///
/// Not committed is aborted: by abort(), and by the destructor, which waits 5 s for it and then
/// leaves the rest to the threads of the store. A process that is killed leaves an open upload or a
/// temporary object, which `dataflux uploads` lists and removes.
///
/// One thread at a time uses a writer, each writer its own; who comes while another is inside gets
/// failed_precondition at once, and nothing of the call is done. Blocking members are not for
/// completions. The context's store outlives the writer, and its destruction. Move-only.
class checkpoint_writer {
 public:
  /// Looks at what is there, by one request. Errors: invalid_argument, before any request;
  /// resource_exhausted when there are more writers than the memory has parts for; those of the
  /// store.
  static result<checkpoint_writer> open(const transfer_context& context,
                                        object_upload_request request) {
    return submit_open(context, std::move(request)).take();
  }
  static operation<checkpoint_writer> submit_open(const transfer_context& context,
                                                  object_upload_request request);

  checkpoint_writer(checkpoint_writer&&) noexcept = default;
  checkpoint_writer& operator=(checkpoint_writer&& other) noexcept;
  ~checkpoint_writer() { drop(); }

  /// Appends. The bytes are the caller's again when it returns. Cost: one copy.
  result<void> write(bytes_view bytes);

  /// Appends without a copy but for what is less than half a part at either end. The bytes must
  /// stay as they are until `released` is called, on a thread of the store, or else until commit()
  /// or abort() has returned, or the writer is destroyed. Returns when all of it has been put on
  /// its way; `released` is called, or destroyed without a call where it was not called within
  /// 5 s of a destructor, in any case.
  result<void> write_borrowed(bytes_view bytes, unique_function<void()> released = {});

  /// Sends the rest, waits for all parts, makes the object and verifies it.
  result<committed_object> commit();
  /// The same while the caller does something else; the writer is to be destroyed or assigned to
  /// afterwards. Destroying the operation cancels the commit.
  operation<committed_object> submit_commit();

  /// Gives up and cleans up. An error names what could not be removed. Nothing after commit().
  result<void> abort();

  /// Bytes so far.
  std::uint64_t written() const noexcept { return state_->written; }

 private:
  friend class detail::writer_opening;
  explicit checkpoint_writer(std::shared_ptr<detail::writer_state> state) noexcept
      : state_(std::move(state)) {}
  void drop() noexcept;
  std::shared_ptr<detail::writer_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/writer.ipp>
#endif
