#pragma once

#include <dataflux/download/detail/get_unit.hpp>
#include <dataflux/download/get_request.hpp>
#include <dataflux/exec/fork.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/lent_bytes.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: what the reader of a stream has done, for the window, which is elsewhere.
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

/// Private: between a stream, which puts units in, and the reader, who takes items. The only state
/// of a stream that several threads touch. Completions are called without any lock.
class get_outbox {
 public:
  using items = std::vector<got_item>;
  using completion = object_store::completion<items>;

  get_outbox(scheduler& home, std::shared_ptr<lent_bytes::counter> lent,
             std::uint64_t telling_bytes) noexcept
      : home_(home), lent_(std::move(lent)), telling_bytes_(telling_bytes) {}

  // The stream's side.
  /// Takes all of `units`, which is empty then.
  void put(std::vector<get_unit*>& units);
  enum class served : std::uint8_t { nobody, some, held_back };
  /// Hands out to those who wait; `held_back` if there are fewer than `least` units.
  served serve(std::size_t least);
  /// Nothing more will come, unless something is recalled. `drop`: nor what is there.
  void end(const std::optional<error>& failure, bool drop);
  /// Takes a unit back that nobody has touched, and all behind it if `rest`. False if it is gone.
  bool recall(get_unit& unit, bool rest, std::vector<get_unit*>& back);
  /// What has happened since the last call, in order.
  void events(std::vector<get_event>& into);
  /// No read is under way any more, and none will be.
  void quiet();

  // The reader's side.
  /// The next item if it is there. `tell`: the stream has something to learn.
  std::optional<got_item> take_one(bool& tell);
  /// What there is to say where there is no item any more.
  result<items> outcome() const;
  /// `done` gets what comes, later or, if that has come, now. `on_stop` ends with the waiting. The
  /// stream has something to learn then.
  void wait(std::size_t max, completion done, std::shared_ptr<void> on_stop);
  void wait_until_quiet();
  bool inherited() const noexcept { return born_ != fork_generation(); }

 private:
  struct waiter {
    std::size_t max;
    completion done;
    std::shared_ptr<void> on_stop;
  };
  got_item hand_one(time_point now);
  bool hand_out(std::size_t max, items& into);
  got_item make_item(get_piece& piece) const;
  static void hand(waiter to, result<items> with);

  const std::uint64_t born_{fork_generation()};
  scheduler& home_;
  const std::shared_ptr<lent_bytes::counter> lent_;
  const std::uint64_t telling_bytes_;
  mutable std::mutex mutex_{};
  std::condition_variable quiet_changed_{};
  std::deque<get_unit*> ready_{};
  std::deque<waiter> waiters_{};
  std::vector<get_event> events_{};
  std::uint64_t untold_bytes_{0};
  std::optional<error> failure_{};
  bool ended_{false};
  bool quiet_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/get_outbox.ipp>
#endif
