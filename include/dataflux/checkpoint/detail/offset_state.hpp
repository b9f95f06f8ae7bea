#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/checkpoint/detail/checked_ranges.hpp>
#include <dataflux/checkpoint/detail/claimed_ranges.hpp>
#include <dataflux/checkpoint/detail/writer_state.hpp>
#include <dataflux/detail/buffer.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/result.hpp>
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
///     opening    a thread asks for its memory; others that want it wait for that thread's answer
///     open       has a buffer, into which threads copy what they have claimed, side by side
///     sent       the upload's: out of the buffer, once full, or out of the bytes of one write
///
/// A write first opens the parts that it covers in part: two at most, at its ends, both or none.
/// Then it claims its bytes, after which nothing but the upload's failure ends it. Whole parts
/// among them are sent from where they are, and the write waits until they are let go. What is not
/// claimed was not written, and has no consequence but a part that may be open and empty.
///
/// No wait is without end: memory is only waited for where parts on their way hold it (see
/// object_upload::keep), a part that is opening where its thread does that, and what is sent is let
/// go with the outcome of its request.
struct offset_state {
  enum class phase : std::uint8_t { untouched, opening, open, sent };
  struct part {
    std::uint64_t begin{0};
    std::uint64_t size{0};
    phase at{phase::untouched};
    buffer memory{};
    checked_ranges filled{};  ///< by offsets in the part
  };
  /// Counts those inside, and their pieces that the upload has.
  class write_call;
  using gate = writer_state::gate;

  /// On the strand; divides the upload.
  offset_state(const transfer_context& with, std::shared_ptr<object_upload> to,
               std::uint64_t bytes);

  result<void> write(byte_extent range, bytes_view bytes);
  result<void> finish(object_store::completion<committed_object>& done);
  void start_abort(duration timeout, object_store::completion<void> done);
  result<void> out_of_memory();

  /// Why nothing may be done any more. Under the lock.
  result<void> going_on() const;
  result<void> refuse_overlap(byte_extent range) const;
  /// Until all parts that `range` covers in part are open. Gives back the lock for that.
  result<void> open_ends(byte_extent range, std::unique_lock<std::mutex>& lock);
  result<void> open_parts(const std::vector<std::size_t>& which,
                          std::unique_lock<std::mutex>& lock);
  /// Claims, and takes from their producers the whole parts, which are given.
  std::vector<std::size_t> claim(byte_extent range);
  void copy(std::size_t index, byte_extent range, bytes_view bytes);
  result<void> send_borrowed(std::size_t index, bytes_view bytes, write_call& call);
  void send(upload_piece piece);
  upload_piece piece_of(std::size_t index);
  /// Asks on the strand, and waits.
  result<void> ask_memory(std::uint64_t bytes, bool kept);
  std::size_t part_at(std::uint64_t offset) const noexcept;
  bool single() const noexcept { return parts.size() == 1; }
  std::string open_ones() const;
  /// Memory of parts that are not sent; under the lock, when nobody is inside.
  void drop_buffers() noexcept {
    for (part& each : parts) each.memory = {};
  }
  void fail(const error& why);

  const transfer_context context;
  const std::shared_ptr<object_upload> upload;
  const std::uint64_t size;
  const process_stamp born{};

  mutable std::mutex mutex{};
  std::condition_variable changed{};
  std::vector<part> parts{};
  claimed_ranges claimed{};
  std::size_t inside{0};  ///< threads within write()
  std::optional<error> failure{};
  bool finished{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/offset_state.ipp>
#endif
