#pragma once

#include <dataflux/detail/fifo.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/download/detail/get_unit.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/exec/detail/bells.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/borrowed_bytes.hpp>
#include <dataflux/unique_function.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A step of the reader of a stream, which the window has to learn of.
struct get_event {
  enum class kind : std::uint8_t {
    asked,   ///< and something was there
    waits,   ///< for nothing was
    taken,   ///< the first piece of a unit
    emptied  ///< the last one: `unit` is the stream's again
  };
  kind what{kind::asked};
  std::uint64_t number{0};
  get_unit* unit{nullptr};
  time_point when{};
};

/// Between a stream, which puts units in, and the reader, who takes items. The only state
/// of a stream that several threads touch. Completions are called without any lock.
class get_queue {
 public:
  using items = std::vector<got_item>;
  using completion = object_store::completion<items>;

  get_queue(scheduler& strand, std::shared_ptr<borrowed_bytes::counter> borrowed,
            std::uint64_t telling_bytes) noexcept
      : strand_(strand), borrowed_(std::move(borrowed)), telling_bytes_(telling_bytes) {}

  // The stream's side.
  /// Takes all of `units`, which is empty then.
  void put(std::vector<get_unit*>& units);
  enum class served : std::uint8_t { nobody, some, held_back };
  /// Hands out to those who wait, and wakes who sleeps; `held_back` if there are fewer than `least`
  /// units.
  served serve(std::size_t least);
  /// Nothing more will come, unless something is recalled. `drop`: nor what is there.
  void end(const std::optional<error>& failure, bool drop);
  /// Takes a unit back that nobody has touched, and all behind it if `rest`. False if it is gone.
  bool recall(get_unit& unit, bool rest, std::vector<get_unit*>& back);
  /// What has happened since the last call, in order.
  void events(std::vector<get_event>& into);
  /// No read is under way any more, and none will be. The last thing that the stream does.
  void quiet();

  // The reader's side.
  /// What is there, at most `max` of it, behind what is in `into`. `tell`: the stream has something
  /// to learn.
  taken take(std::size_t max, items& into, bool& tell);
  taken take_one(std::optional<got_item>& into, bool& tell);
  /// The outcome of the stream, once there is no item any more.
  result<items> outcome() const;
  /// Until something is there or the end has come. `wake` makes the stream learn that.
  template <class Wake>
  void sleep(Wake wake) {
    seat* const mine = sit_down();
    if (mine == nullptr) return;
    wake();
    stay(*mine);
  }
  /// `done` gets what comes, later or, if that has come, now. `on_stop` ends with the waiting. The
  /// stream has something to learn then.
  void wait(std::size_t max, completion done, std::shared_ptr<void> on_stop);
  /// Rings once something is there, or the end; now if it is already. The stream has something to
  /// learn then.
  void notify(completion_queue& queue, std::uint64_t tag);
  /// Rings for nobody any more.
  void silence();
  void wait_until_quiet();
  /// For who does not wait: calls `then`, inside quiet(). Before the stream starts.
  void when_quiet(unique_function<void()> then) { on_quiet_ = std::move(then); }
  bool inherited() const noexcept { return born_.inherited(); }

 private:
  /// Of a thread that sleeps; used again.
  struct seat {
    std::condition_variable called_changed{};
    bool called{false};
  };
  struct waiter {
    std::size_t max;
    completion done;
    std::shared_ptr<void> on_stop;
    seat* sleeper{nullptr};  ///< in place of `done`: it takes what it finds
  };
  seat* sit_down();
  void stay(seat& mine);
  bool should_tell() const noexcept;
  got_item hand_one(time_point now);
  bool hand_out(std::size_t max, items& into);
  got_item make_item(get_piece& piece) const;
  static void hand(waiter to, result<items> with);

  const process_stamp born_{};
  scheduler& strand_;
  const std::shared_ptr<borrowed_bytes::counter> borrowed_;
  const std::uint64_t telling_bytes_;
  mutable std::mutex mutex_{};
  std::condition_variable quiet_changed_{};
  fifo<get_unit*> ready_{};
  std::vector<waiter> waiters_{};  ///< the first one has waited longest
  bells bells_{};
  std::forward_list<seat> seats_{};
  std::vector<seat*> free_seats_{};
  std::vector<get_event> events_{};
  std::uint64_t untold_bytes_{0};
  std::optional<error> failure_{};
  bool ended_{false};
  bool quiet_{false};
  unique_function<void()> on_quiet_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/get_queue.ipp>
#endif
