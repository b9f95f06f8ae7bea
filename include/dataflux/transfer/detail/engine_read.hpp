#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/spare_memory.hpp>
#include <dataflux/exec/detail/call_clock.hpp>
#include <dataflux/exec/detail/stop_watch.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/concurrency.hpp>
#include <dataflux/transfer/detail/concurrency_ramp.hpp>
#include <dataflux/transfer/detail/hedge.hpp>
#include <dataflux/transfer/detail/read_cache.hpp>
#include <dataflux/transfer/detail/read_member.hpp>
#include <dataflux/transfer/detail/read_turns.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What the reads of an engine share. On the strand's thread only.
struct read_engine_state : std::enable_shared_from_this<read_engine_state> {
  read_engine_state(object_store& from, scheduler& at, const concurrency_options& c,
                    const hedge_options& h)
      : store(from), strand(at), concurrency(c), hedges(h) {}

  object_store& store;
  scheduler& strand;
  concurrency_control concurrency;
  concurrency_ramp ramp{};
  std::uint64_t bytes_ended{0};  ///< of reads that have ended
  hedge_policy hedges;
  std::shared_ptr<read_cache> cache{};  ///< null: there is none
  read_turns turns{};
  read_member nobodys{};
  std::size_t under_way{0};  ///< requests
  std::size_t waiting{0};    ///< reads in the lines of members
  /// Under way, by when they were sent. Each is kept alive by the store.
  engine_read* oldest{nullptr};
  engine_read* newest{nullptr};
  /// One for all of them, due when the first of them may be late.
  timer_id timer{timer_id::none};
  time_point timer_due{never};
  /// Unused ones: making one costs an allocation, as do the names in a request, and a read.
  std::vector<std::stop_source> stops{};
  std::vector<read_request> requests{};
  recycling_allocator<engine_read> memory_of_reads{};

  /// A read from the store.
  void start(read_member& member, const read_request& request, byte_sink& sink,
             object_store::completion<read_summary> done);
  /// Whether a read of the member's that does not stand in line would be sent at once.
  bool has_turn(const read_member& member) const noexcept;
  /// Sends what waits, and wakes who asks, as their turns come; but `asking`, who is awake.
  void advance(const read_member* asking = nullptr);
  std::stop_source fresh_stop();
  /// Its requests have ended.
  void put_back(std::stop_source& stop) noexcept;
  read_request copy_of(const read_request& request);
  void put_back(read_request& request) noexcept;
  /// Before a request is sent: its end needs no memory then.
  void make_room_for_arrival();
  /// What became of a request, on any thread: ended() follows on the strand, at once where it is
  /// there already. Else one task is posted for all that arrive until it runs.
  void arrived(engine_read& read, std::size_t which, result<read_summary> outcome);
  void link(engine_read& read) noexcept;
  void unlink(engine_read& read) noexcept;
  /// Checks the reads under way at `due`, if not before.
  void watch(time_point due) noexcept;
  void look();
  /// Nothing has been learned from reads that have ended.
  bool climbing() const noexcept { return !ramp.over() && !concurrency.learned(); }
  /// A read was sent, whose first check is due then.
  void begun(time_point check, time_point now) noexcept;
  /// Lets the ramp see what has arrived; when to do so again.
  time_point climb(time_point now);

 private:
  struct arrival {
    std::shared_ptr<engine_read> read;
    std::size_t which;
    result<read_summary> outcome;
  };
  /// The task of the strand. One that is dropped lets go of the reads, which keep the state.
  class arrivals_taker {
   public:
    explicit arrivals_taker(std::shared_ptr<read_engine_state> from) noexcept
        : from_(std::move(from)) {}
    arrivals_taker(arrivals_taker&&) noexcept = default;
    arrivals_taker& operator=(arrivals_taker&&) = delete;
    ~arrivals_taker();
    void operator()();

   private:
    std::shared_ptr<read_engine_state> from_;
  };

  std::mutex arrivals_mutex_{};
  std::vector<arrival> arrivals_{};
  std::size_t room_{0};           ///< of each of the two
  std::vector<arrival> taken_{};  ///< by the task, which runs
};

/// One read with its requests, three at most. On the strand's thread but for the gates,
/// which the store calls on the threads where bytes arrive, and `claim()`, which decides between
/// them.
class engine_read final : public std::enable_shared_from_this<engine_read> {
  friend struct read_engine_state;

 public:
  using completion = object_store::completion<read_summary>;

  engine_read(std::shared_ptr<read_engine_state> core, read_member& member,
              const read_request& asked, byte_sink& sink, completion done);

  /// Puts it into the line, and sends it if it is its turn.
  void enqueue();
  /// It has its turn.
  void take_turn();
  /// Whether to ask again; when to check again.
  time_point check(time_point now);
  /// By stop_watch, on any thread.
  void stop_heard() noexcept;

 private:
  /// One request's way to the destination: its first bytes come into memory of its own, until it is
  /// known which request delivers.
  class gate final : public byte_sink {
   public:
    gate(engine_read& read, std::size_t which) noexcept : read_(read), which_(which) {}
    DATAFLUX_INLINE result<void> expect(std::uint64_t length) override;
    DATAFLUX_INLINE bytes_span prepare(std::size_t wanted) override;
    bool satisfied() const noexcept override { return passing_ && read_.sink_.satisfied(); }
    DATAFLUX_INLINE result<void> commit(std::size_t count) override;
    DATAFLUX_INLINE result<void> rewind(std::uint64_t offset) override;
    /// Announces the body to the destination, which is this gate's now.
    result<void> open();

   private:
    engine_read& read_;
    std::size_t which_;
    std::optional<std::uint64_t> length_{};
    bool passing_{false};
    std::array<std::byte, most_first_bytes> first_bytes_;
  };
  struct request {
    gate way;
    std::stop_source stop{std::nostopstate};
    bool under_way{false};
    std::optional<error> failure{};  ///< while nobody had delivered a byte
  };
  static constexpr std::size_t nobody = hedged_read::most_requests;

  bool claim(std::size_t which) noexcept;
  void stop_all_but(std::size_t which) noexcept;
  void leave_line();
  void launch();
  void give_up(const error& why);
  time_point check_body(time_point now);
  void begin_anew();
  void send(std::size_t which, time_point now);
  void ended(std::size_t which, result<read_summary> outcome) noexcept;
  void take(std::size_t which, result<read_summary> outcome);
  void finish(result<read_summary> outcome) noexcept;
  void limit_wait();
  void account(const result<read_summary>& outcome, time_point now);

  const std::shared_ptr<read_engine_state> core_;
  read_member& member_;
  std::list<std::shared_ptr<engine_read>>::iterator place_{};  ///< in the member's line
  read_request request_;
  byte_sink& sink_;
  completion done_;
  const call_clock clock_;
  const std::stop_token caller_stop_;
  stop_watch on_stop_{};
  std::array<request, hedged_read::most_requests> requests_{
      request{gate(*this, 0)}, request{gate(*this, 1)}, request{gate(*this, 2)}};
  std::atomic<std::size_t> owner_{nobody};  ///< of the destination: which request
  std::atomic<bool> asked_again_{false};
  /// By the owner. Of a body under way the strand sees the first two when it has seen the third.
  time_point first_byte_{never};
  std::uint64_t expected_{0};
  std::atomic<std::uint64_t> received_{0};
  hedged_read hedge_{};
  timer_id timer_{timer_id::none};  ///< of its time limit, until its turn
  time_point next_check_{never};
  engine_read* older_{nullptr};
  engine_read* newer_{nullptr};
  bool launched_{false};
  bool leaving_{false};  ///< the owner's body was given up, and its request has not ended
  bool finished_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/engine_read.ipp>
#include <dataflux/transfer/impl/read_engine_state.ipp>
#endif
