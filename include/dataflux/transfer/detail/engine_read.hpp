#pragma once

#include <dataflux/byte_sink.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/concurrency.hpp>
#include <dataflux/transfer/hedge.hpp>
#include <dataflux/transfer/read_member.hpp>
#include <dataflux/transfer/read_turns.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: what the reads of an engine share. On home's thread only.
struct read_engine_state : std::enable_shared_from_this<read_engine_state> {
  read_engine_state(object_store& from, scheduler& at, const concurrency_options& c,
                    const hedge_options& h) noexcept
      : store(from), home(at), concurrency(c), hedges(h) {}

  object_store& store;
  scheduler& home;
  concurrency_control concurrency;
  hedge_policy hedges;
  read_turns turns{};
  read_member nobodys{};
  std::size_t waiting{0};  ///< reads in the lines of members
  /// Under way, by when they were sent. Each is kept alive by the store.
  engine_read* oldest{nullptr};
  engine_read* newest{nullptr};
  /// One for all of them, due when the first of them may be late.
  timer_id timer{timer_id::none};
  time_point timer_due{never};
  /// Unused ones: making one costs an allocation.
  std::vector<std::stop_source> stops{};

  /// Whether a read of the member's that does not stand in line would be sent at once.
  bool has_turn(const read_member& member) const noexcept;
  /// Sends what waits, and wakes who asks, as their turns come; but `asking`, who is awake.
  void pump(const read_member* asking = nullptr);
  std::stop_source fresh_stop();
  /// Its requests have ended.
  void put_back(std::stop_source& stop);
  void link(engine_read& read) noexcept;
  void unlink(engine_read& read) noexcept;
  /// Looks after the reads under way at `due`, if not before.
  void watch(time_point due);
  void look();
};

/// Private: one read with its one or two requests. On home's thread but for the gates, which the
/// store calls on the threads where bytes arrive, and `claim()`, which decides between them.
class engine_read final : public std::enable_shared_from_this<engine_read> {
  friend struct read_engine_state;

 public:
  using completion = object_store::completion<read_summary>;

  engine_read(std::shared_ptr<read_engine_state> core, read_member& member, read_request request,
              byte_sink& sink, completion done);

  /// Puts it into the line, and sends it if it is its turn.
  void enqueue();
  /// It has its turn.
  void take_turn();
  /// Whether to ask twice; when to look again.
  time_point check(time_point now);

 private:
  /// One request's way to the destination: its first bytes come into memory of its own, until it is
  /// known which request delivers.
  class gate final : public byte_sink {
   public:
    gate(engine_read& read, hedge_side side) noexcept : read_(read), side_(side) {}
    result<void> expect(std::uint64_t length) override;
    bytes_span prepare(std::size_t wanted) override;
    result<void> commit(std::size_t count) override;
    result<void> rewind(std::uint64_t offset) override;
    /// Announces the body to the destination, which is this gate's now.
    result<void> open();

   private:
    engine_read& read_;
    hedge_side side_;
    std::optional<std::uint64_t> length_{};
    bool passing_{false};
    std::array<std::byte, 512> first_bytes_;
  };
  struct request_side {
    gate way;
    std::stop_source stop;
    bool under_way{false};
  };
  struct stopper {
    engine_read* read;
    void operator()() const noexcept;
  };

  request_side& at(hedge_side s) noexcept { return s == hedge_side::first ? first_ : second_; }
  static hedge_side other(hedge_side s) noexcept {
    return s == hedge_side::first ? hedge_side::second : hedge_side::first;
  }
  static constexpr std::uint8_t nobody = 0;
  static std::uint8_t owner_number(hedge_side s) noexcept { return s == hedge_side::first ? 1 : 2; }
  bool claim(hedge_side side) noexcept;
  void leave_line();
  void launch();
  void give_up(const error& why);
  void send(hedge_side side, time_point now);
  void ended(hedge_side side, result<read_summary> outcome);
  void finish(result<read_summary> outcome);
  void account(const result<read_summary>& outcome, time_point now);

  const std::shared_ptr<read_engine_state> core_;
  read_member& member_;
  std::list<std::shared_ptr<engine_read>>::iterator place_{};  ///< in the member's line
  read_request request_;
  byte_sink& sink_;
  completion done_;
  const time_point deadline_;
  const std::stop_token caller_stop_;
  std::optional<std::stop_callback<stopper>> on_stop_{};
  request_side first_;
  request_side second_;
  std::atomic<std::uint8_t> owner_{nobody};  ///< of the destination, by owner_number()
  std::atomic<bool> asked_twice_{false};
  time_point first_byte_{never};  ///< by the owner
  hedged_read hedge_{};
  timer_id timer_{timer_id::none};  ///< of its time limit, until its turn
  time_point next_check_{never};
  engine_read* older_{nullptr};
  engine_read* newer_{nullptr};
  std::optional<error> failure_{};
  bool launched_{false};
  bool finished_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/engine_read.ipp>
#endif
