#pragma once

#include "boundary.hpp"

#include <dataflux/exec/completion_queue.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace dataflux_c {

class queue_state;

/// Makes room for an event for as long as the queue lives: who pushes one while it is empty needs
/// no memory, and so cannot fail.
void make_room_for_one(dataflux::completion_queue& queue);

/// What a queue takes records from: an operation, or a stream.
class record_source {
 public:
  record_source() = default;
  record_source(const record_source&) = delete;
  record_source& operator=(const record_source&) = delete;
  virtual ~record_source() = default;

  enum class left : std::uint8_t {
    more,     ///< there may be: look again
    asleep,   ///< nothing now; it has asked to be told
    nothing,  ///< it has ended
  };
  /// Fills records, from the first on, and adds their number to `count`. Called under the queue's
  /// lock; it must not wait.
  virtual left take(std::span<dataflux_record> into, std::size_t& count, queue_state& queue) = 0;
  /// The queue was closed, and asks no more. Without its lock.
  virtual void dropped() noexcept {}
};

/// What lies behind a queue: it outlives the handle for as long as something may still tell it.
///
/// Events name their source by a number that is never used again, so that what comes from one that
/// is gone is passed over. A source with more than there was room for is told of again, behind the
/// others: so all have their turn, and the descriptor is readable as long as there is something.
///
/// Where memory is short nothing is lost: a source whose take() throws is asked again.
class queue_state {
 public:
  queue_state();
  dataflux::completion_queue& events() noexcept { return events_; }

  /// Takes part from now on; gives its number. failed_precondition after close().
  result<std::uint64_t> add(std::shared_ptr<record_source> source);
  /// No record of it comes any more.
  void remove(std::uint64_t number);

  enum class end : std::uint8_t { some, timed_out, interrupted, closed };
  end next(std::span<dataflux_record> into, std::size_t& count, std::int64_t timeout_ns);

  /// What is still told is told to nobody, and who waits is woken.
  void close();

  /// Says in a record why something failed, and keeps the error for who asks by its number; that is
  /// 0 where there is no memory for it. Under the lock, by take().
  void fail(dataflux_record& r, error why) noexcept;
  std::optional<error> find(std::uint32_t number);

 private:
  std::uint32_t keep(error why) noexcept;
  /// False if it is closed.
  bool fill(std::span<dataflux_record> into, std::size_t& filled);
  /// True if there is news.
  bool fetch(std::size_t most, std::vector<std::shared_ptr<record_source>>& over);
  void tell_again() noexcept;

  dataflux::completion_queue events_{};
  std::mutex mutex_{};
  std::unordered_map<std::uint64_t, std::shared_ptr<record_source>> sources_{};
  std::uint64_t last_number_{0};
  bool closed_{false};
  std::vector<dataflux::completion_event> news_{};
  std::size_t seen_to_{0};  ///< of the news
  std::deque<error> errors_{};
  std::uint32_t first_error_{1};
};

}  // namespace dataflux_c

struct dataflux_queue : dataflux_c::handle {
  dataflux_queue() = default;
  ~dataflux_queue() {
    dataflux_c::quietly([this] { state->close(); });
  }
  dataflux_queue(const dataflux_queue&) = delete;
  dataflux_queue& operator=(const dataflux_queue&) = delete;
  const std::shared_ptr<dataflux_c::queue_state> state{std::make_shared<dataflux_c::queue_state>()};
};
