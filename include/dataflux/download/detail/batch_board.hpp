#pragma once

#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/download/batch_getter.hpp>
#include <dataflux/download/detail/batch_rows.hpp>
#include <dataflux/download/detail/get_unit.hpp>
#include <dataflux/download/detail/piece_source.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/exec/detail/bells.hpp>
#include <dataflux/result.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Between those who push batches, the stream that reads their rows in any order, and those who
/// take batches. Any thread. The stream is woken under the lock, which only posts, so that close()
/// is the last that it hears of. In the child of a fork it takes and gives nothing, without a lock.
class batch_board : public std::enable_shared_from_this<batch_board> {
 public:
  batch_board(object_columns objects, get_order order);

  // Those who push, and take.
  result<std::uint64_t> push_rows(std::span<const std::uint64_t> rows, const batch_memory& where);
  result<std::uint64_t> push(std::span<get_request> requests, const batch_memory& where);
  void finish();
  result<std::optional<got_batch>> next();
  result<taken> try_next(std::optional<got_batch>& into);
  void notify(completion_queue& queue, std::uint64_t tag);
  /// Rings for nobody any more.
  void silence();

  // The stream.
  /// Reads it from now on, and wakes it for what is pushed.
  void attach(const std::shared_ptr<get_stream>& stream);
  taken take(get_piece& into);
  /// It asks for nothing any more.
  void close();

 private:
  /// A batch that was pushed and not taken.
  struct open_batch {
    std::uint64_t first{0};  ///< the number of its first row, of all that were pushed
    std::size_t left{0};     ///< rows that have not ended
    got_batch so_far{};
  };

  result<std::uint64_t> begin(batch_rows rows);
  void ask(const std::shared_ptr<get_stream>& stream);
  void came(const std::shared_ptr<get_stream>& stream,
            result<std::vector<got_item>> items) noexcept;
  void count(std::vector<got_item>& items);
  void end(const std::optional<error>& failure);
  std::optional<std::size_t> complete() const noexcept;
  bool pop(std::optional<got_batch>& into);
  void ring() noexcept;

  const process_stamp born_{};
  const get_order order_;
  const std::shared_ptr<const get_rows> objects_;
  std::mutex mutex_{};
  std::condition_variable changed_{};
  bells bells_{};
  std::weak_ptr<get_stream> stream_{};
  std::deque<batch_rows> waiting_{};  ///< whose rows the stream has not all taken
  std::size_t next_row_{0};           ///< of the first of them
  std::deque<open_batch> open_{};     ///< in the order of the pushes
  std::uint64_t batches_{0};
  std::uint64_t rows_{0};
  bool finished_{false};
  bool ended_{false};
  std::optional<error> failure_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/batch_board.ipp>
#endif
