#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/buffer.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/detail/unique_function.hpp>
#include <dataflux/exec/detail/scheduler.hpp>
#include <dataflux/result.hpp>
#include <dataflux/transfer/detail/object_upload.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: a checkpoint_writer's side of its upload. Used by the writer's thread but for `gate`.
struct writer_state {
  /// Where the writer's thread waits for an answer from the strand.
  struct gate {
    std::mutex mutex{};
    std::condition_variable came{};
    std::optional<result<void>> answer{};

    void give(result<void> value) {
      std::scoped_lock lock(mutex);
      answer.emplace(std::move(value));
      came.notify_all();
    }
    /// Nothing when `limit` passes first.
    std::optional<result<void>> wait(duration limit = duration::max());
  };

  /// Held by the thread that is inside a member of the writer. Nobody waits for it: two producers
  /// that share a writer have no order, so that what they write would mean nothing.
  class turn {
   public:
    explicit turn(writer_state& of) noexcept : taken_(!of.busy.exchange(true)), of_(of) {}
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() {
      if (taken_) of_.busy.store(false);
    }
    /// Whether the caller may use the writer at all.
    result<void> granted() const;

   private:
    const bool taken_;
    writer_state& of_;
  };

  explicit writer_state(const transfer_context& with, std::shared_ptr<object_upload> to)
      : context(with), upload(std::move(to)) {}
  static std::shared_ptr<writer_state> make(const transfer_context& with,
                                            std::shared_ptr<object_upload> to) {
    return std::make_shared<writer_state>(with, std::move(to));
  }

  /// Why nothing may be done any more. Within a turn.
  result<void> check_open() const;
  /// A buffer for the next part, of at least `wanted` bytes.
  result<void> begin_part(std::size_t wanted);
  void grow(std::size_t wanted);
  void append(bytes_view bytes) noexcept;
  upload_piece take_piece();
  void send(upload_piece piece);
  std::uint64_t next_size() const noexcept { return upload->plan().size_of(parts + 1); }
  result<void> out_of_memory();
  result<void> reserve(std::uint64_t bytes);
  result<void> write(bytes_view bytes);
  result<void> write_borrowed(bytes_view bytes, const std::shared_ptr<void>& released);
  result<void> send_borrowed(bytes_view bytes, const std::shared_ptr<void>& released);
  void finish(object_store::completion<committed_object> done);
  void start_abort(duration timeout, object_store::completion<void> done);
  /// Waits for it as long as `limit`.
  result<void> abort(duration timeout, duration limit);
  void fail(const error& why) {
    if (!failure) failure = why;
  }

  const transfer_context context;
  const std::shared_ptr<object_upload> upload;
  const process_stamp born{};
  std::atomic<bool> busy{false};
  std::shared_ptr<gate> answers{std::make_shared<gate>()};
  buffer memory{};
  std::size_t used{0};
  std::uint32_t crc{0};
  std::uint64_t part_size{0};  ///< of the part that is being filled, and held for it; 0 = none
  std::uint64_t parts{0};      ///< on their way
  std::uint64_t written{0};
  std::optional<error> failure{};
  bool finished{false};
};

class writer_opening;

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

}  // namespace dataflux::inline DATAFLUX_ABI::detail
