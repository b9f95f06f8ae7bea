#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/detail/buffer.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/exec/detail/bells.hpp>
#include <dataflux/exec/detail/turn.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/result.hpp>
#include <dataflux/transfer/detail/object_upload.hpp>
#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/unique_function.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace dataflux::inline DATAFLUX_ABI {
class checkpoint_writer;
}

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What the strand has told a checkpoint_writer, and whom that tells of it: memory for the
/// next piece, and the upload's failure. Under its lock but for `broken`.
struct writer_room {
  /// The upload's, to what was asked for.
  void answer(std::uint64_t bytes, bool had);
  /// What the upload says of it takes the place of what was said here. After an abort there is
  /// none.
  void fail(const error& why);
  /// What was granted and not used is the upload's again.
  std::uint64_t unused();
  std::optional<error> failed();
  /// The writer was committed or aborted.
  void close(bool by_abort);
  /// Tells the queue once that there is news, at once if there is some.
  void tell(completion_queue& queue, std::uint64_t tag, bool now);

  std::mutex mutex{};
  bool asked{false};         ///< for memory; the answer is still to come
  std::uint64_t granted{0};  ///< and not used
  bells news{};
  bells waits{};  ///< the one write that waits, if any
  std::optional<error> failure{};
  bool aborted{false};
  std::atomic<bool> broken{false};  ///< there is a failure
};

/// How a write has ended: all is taken, or a signal came before.
enum class write_end : std::uint8_t { all, interrupted };

/// A checkpoint_writer's side of its upload. Used by the writer's thread but for `room`.
struct writer_state {
  /// One call that may wait for room, and what ends that before.
  class patience;

  explicit writer_state(const transfer_context& with, std::shared_ptr<object_upload> to)
      : context(with), upload(std::move(to)) {}
  /// On the strand.
  static std::shared_ptr<writer_state> make(const transfer_context& with,
                                            std::shared_ptr<object_upload> to) {
    auto made = std::make_shared<writer_state>(with, std::move(to));
    made->upload->on_failed([room = made->room](const error& why) { room->fail(why); });
    return made;
  }

  /// Whether the caller, who has tried to take the turn, may use the writer at all.
  result<void> granted(const turn& mine) const;

  // All of these within a turn.
  /// Why nothing may be done any more.
  result<void> check_open() const;
  /// Whether so much memory is held for the next piece; asks for it where it is not.
  result<bool> try_reserve(std::uint64_t bytes);
  /// The next piece takes so much of what is held.
  void use(std::uint64_t bytes);
  /// So much of what is held is not needed.
  void give_back(std::uint64_t bytes);
  /// A buffer for the next part, of at least `wanted` bytes; false where there is no room yet.
  result<bool> try_begin_part(std::size_t wanted);
  void grow(std::size_t wanted);
  void append(bytes_view bytes) noexcept;
  upload_piece take_piece();
  void send(upload_piece piece);
  std::uint64_t next_size() const noexcept {
    // Where the store takes no more parts it is the upload that says so.
    return std::max<std::uint64_t>(upload->plan().size_of(parts + 1), 1);
  }
  /// Ends the writer, since what has been written of this call cannot be told. `what`: is missing.
  error ended_without(const char* what);
  result<std::size_t> try_write(bytes_view bytes);
  result<std::size_t> try_write_borrowed(bytes_view bytes, const std::shared_ptr<void>& released);
  /// By one of these, until all is taken. A signal whose handler runs on this thread ends it where
  /// that is asked for.
  template <class Try>
  result<write_end> write(bytes_view bytes, const call_limits& limits, bool until_signal,
                          Try some_of);
  /// Whether a write would say something now: there is room, or an error. Asks for room otherwise.
  bool has_room();
  /// No more is written; gives what is left to send.
  std::optional<upload_piece> end(bool by_abort);
  /// The strand could not be told of the end: it can be aborted still.
  void end_lost() noexcept;

  // After end(), without a turn: whom these tell may use the writer at once.
  void finish(std::optional<upload_piece> last, const call_limits& limits,
              object_store::completion<committed_object> done);
  void start_abort(duration timeout, const call_limits& limits,
                   object_store::completion<void> done);
  /// What the destructor of a writer that was not committed does. On the strand it cannot wait, nor
  /// where memory is short.
  void drop() noexcept;

  const transfer_context context;
  const std::shared_ptr<object_upload> upload;
  const process_stamp born{};
  std::atomic<bool> busy{false};
  const std::shared_ptr<writer_room> room{std::make_shared<writer_room>()};
  std::optional<completion_queue> bell{};  ///< of a write that waits
  buffer memory{};
  std::size_t used{0};
  std::uint32_t crc{0};
  std::uint64_t part_size{0};  ///< of the part that is being filled, and held for it; 0 = none
  std::uint64_t parts{0};      ///< on their way
  std::uint64_t written{0};
  bool lent{false};  ///< some bytes were
  bool finished{false};
};

/// Tells the owner when the last piece of the borrowed memory is let go.
struct lending {
  unique_function<void()> released;
  explicit lending(unique_function<void()> r) noexcept : released(std::move(r)) {}
  lending(const lending&) = delete;
  lending& operator=(const lending&) = delete;
  ~lending() {
    if (released) released();
  }
};

/// The blocking writes for who must see to signals, as a program under an interpreter: a
/// signal whose handler runs on this thread ends them, too. written() says what was taken then.
struct interruptible {
  static result<write_end> write(checkpoint_writer& writer, bytes_view bytes,
                                 const call_limits& limits);
  static result<write_end> write_borrowed(checkpoint_writer& writer, bytes_view bytes,
                                          unique_function<void()> released,
                                          const call_limits& limits);
  /// Tells all who wait for room: whose writer goes elsewhere waits no longer.
  static void ring(const checkpoint_writer& writer);

 private:
  friend class dataflux::checkpoint_writer;
  static result<write_end> write(writer_state& state, bytes_view bytes, const call_limits& limits,
                                 bool until_signal);
  static result<write_end> write_borrowed(writer_state& state, bytes_view bytes,
                                          unique_function<void()> released,
                                          const call_limits& limits, bool until_signal);
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/writer_state.ipp>
#endif
