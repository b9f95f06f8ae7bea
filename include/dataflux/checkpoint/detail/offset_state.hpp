#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/checkpoint/detail/checked_ranges.hpp>
#include <dataflux/checkpoint/detail/claimed_ranges.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/detail/buffer.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/exec/detail/bells.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/object_upload.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: an offset_writer's side of its upload, which many threads use.
///
/// Parts, each of them:
///
///     untouched  nobody has come
///     opening    its memory is asked for; all that want it wait for the answer, or come again
///     open       has a buffer, into which threads copy what they have claimed, side by side
///     sent       the upload's: out of the buffer, once full, or out of the bytes of one write
///
/// A write first has the parts opened that it covers in part: two at most, at its ends, both or
/// none. Then it claims its bytes. Whole parts among them are sent from where they are, and the
/// write waits until they are let go. What is not claimed was not written, and has no consequence
/// but a part that may be open and empty. A write whose limits pass claims nothing, or gives back
/// what it has claimed as long as nothing of that was copied or sent; from then on only the end of
/// the upload lets go of its bytes.
///
/// A try claims part by part, as far as they are open, and copies.
///
/// No wait is without end: memory is only waited for where parts on their way hold it (see
/// object_upload::keep), and what is sent is let go with the outcome of its request.
struct offset_state : std::enable_shared_from_this<offset_state> {
  enum class phase : std::uint8_t { untouched, opening, open, sent };
  struct part {
    std::uint64_t begin{0};
    std::uint64_t size{0};
    phase at{phase::untouched};
    buffer memory{};
    checked_ranges filled{};  ///< by offsets in the part
    /// Why it could not be opened, as the try that has asked is to be told.
    std::optional<error> refused{};
  };
  /// The answer to a write that has asked for memory, which may be gone by then.
  using refusal = std::shared_ptr<std::optional<error>>;
  /// Counts those inside, their pieces that the upload has, and their time.
  class write_call;
  using lock_type = std::unique_lock<std::mutex>;

  offset_state(const transfer_context& with, std::shared_ptr<object_upload> to,
               std::uint64_t bytes);
  /// On the strand; divides the upload.
  static std::shared_ptr<offset_state> make(const transfer_context& with,
                                            std::shared_ptr<object_upload> to, std::uint64_t bytes);

  result<void> write(byte_extent range, bytes_view bytes, const call_limits& limits);
  result<std::size_t> try_write(byte_extent range, bytes_view bytes);
  void notify(completion_queue& queue, std::uint64_t tag);
  /// The writer is gone.
  void silence();
  /// `done` is taken where it succeeds.
  result<void> finish(const call_limits& limits, object_store::completion<committed_object>& done);
  void start_abort(duration timeout, const call_limits& limits,
                   object_store::completion<void> done);
  error out_of_memory();

  // Under the lock.
  /// Why nothing may be done any more.
  result<void> going_on() const;
  result<void> check(byte_extent range) const;
  result<void> refuse_overlap(byte_extent range) const;
  /// Until all parts that `range` covers in part are open. Gives back the lock for that.
  result<void> open_ends(byte_extent range, write_call& call);
  /// Asks for their memory. A refusal is told to `asker`, or else to the next try of each.
  void begin_parts(std::vector<std::size_t> which, refusal asker = {});
  /// Claims, and takes from their producers the whole parts, which are given.
  std::vector<std::size_t> claim(byte_extent range);
  void unclaim(byte_extent range, const std::vector<std::size_t>& borrowed);
  upload_piece piece_of(std::size_t index);
  std::string open_ones() const;
  void refuse(const std::vector<std::size_t>& which, error why, const refusal& asker);

  // Without it.
  /// The answer, on the strand.
  void parts_opened(const std::vector<std::size_t>& which, std::vector<buffer> buffers,
                    result<void> granted, const refusal& asker);
  /// There was no memory for a question to the upload. On the strand.
  void lose();
  /// There was none for the end; it can be asked for again.
  void end_lost() noexcept;
  result<void> write_parts(byte_extent range, bytes_view bytes, write_call& call);
  void copy(std::size_t index, byte_extent range, bytes_view bytes);
  /// Waits for memory.
  result<void> send_borrowed(std::size_t index, bytes_view bytes, write_call& call);
  void send(upload_piece piece);
  void fail(const error& why);
  void fail_upload(error why);
  std::size_t part_at(std::uint64_t offset) const noexcept;
  bool single() const noexcept { return parts.size() == 1; }
  /// Memory of parts that are not sent; under the lock, when nobody is inside.
  void drop_buffers() noexcept {
    for (part& each : parts) each.memory = {};
  }

  const transfer_context context;
  const std::shared_ptr<object_upload> upload;
  const std::uint64_t size;
  const process_stamp born{};

  mutable std::mutex mutex{};
  std::condition_variable changed{};
  std::vector<part> parts{};
  claimed_ranges claimed{};
  std::size_t inside{0};   ///< threads within write() and try_write()
  std::size_t opening{0};  ///< asked for by begin_parts(), and not answered
  bells news{};
  std::optional<error> failure{};
  bool finished{false};
  bool aborted{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/offset_state.ipp>
#include <dataflux/checkpoint/impl/offset_write.ipp>
#endif
