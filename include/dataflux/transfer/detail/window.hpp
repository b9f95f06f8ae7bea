#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/detail/fifo.hpp>
#include <dataflux/unique_function.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

/// How far a reader may run ahead of its consumer: by memory, and by the use of it.
namespace dataflux::inline DATAFLUX_ABI::detail {

class read_window;

/// The hard cap on the bytes that all windows of a client hold together: from the start of a read
/// until its body is handed to the consumer. No window waits for what the consumer has. Outlives
/// its windows. One executor at a time.
class read_budget {
 public:
  explicit read_budget(std::uint64_t cap) noexcept : cap_(cap) {}
  read_budget(const read_budget&) = delete;
  read_budget& operator=(const read_budget&) = delete;

  std::uint64_t cap() const noexcept { return cap_; }
  std::uint64_t held() const noexcept { return held_; }

 private:
  friend class read_window;
  std::uint64_t free() const noexcept { return cap_ - held_; }

  std::uint64_t cap_;
  std::uint64_t held_{0};
  std::uint64_t releasing_{0};           ///< of held_: revoked already, or to be revoked
  std::vector<read_window*> windows_{};  ///< all of them
  std::size_t wanting_{0};               ///< of them: to be woken when there is room
  std::vector<read_window*> line_{};     ///< whose first item is waited for and not being read
};

struct read_window_options {
  /// Most items ahead of the consumer, at least 1.
  std::size_t max_items{32768};
  /// What is set aside for the first item of unknown size; later ones get what the largest of late
  /// was found to have.
  std::uint64_t first_guess{1U << 20U};
};

/// One thing to do for the owner of a window.
struct window_step {
  enum class kind : std::uint8_t {
    none,       ///< nothing now: ask again after the next event, and when woken
    pull,       ///< take the next item from the source: add() it, or say finish()
    start,      ///< `bytes` are set aside for `item`: read it, or its first part
    more,       ///< so many `bytes` more are, for the next part
    too_large,  ///< `item` is of more bytes than the cap: it counts as ready, and as holding none
    revoke,     ///< drop `item`, whether it is being read or ready, then say released()
  };
  kind what{kind::none};
  std::uint64_t item{0};
  std::uint64_t bytes{0};
};

/// What sized() says of an item whose length has turned out.
enum class window_fit : std::uint8_t {
  fits,       ///< go on
  later,      ///< no room: drop its bytes and say released(); it is started again
  too_large,  ///< as window_step::kind::too_large
};

/// Decides which items of one stream are read ahead. Items are numbered from 0 in the order of the
/// source, and start in that order as soon as there is room; a slow consumer stops the reads within
/// the budget, a fast one never waits while budget and connections are free.
///
/// How many: as many as the consumer takes in the time of a slow read, and half as many more. A
/// read is as slow as the slowest of late, for in order a single one is waited for by all; what the
/// consumer does between two items is measured without its waiting for us. Twice as many each time
/// that it waits although so many were there, as one does that takes items in batches. A consumer
/// that does nothing in between gets all that the budget allows, and so does one while it waits:
/// what is read behind a slow item is there when that has come.
///
/// Deadlock-free: whatever the sizes up to the cap, and whichever window the one consumer of
/// several waits at, that window's first item gets its memory:
/// - Several windows share the cap equally, but a window's first item may have more.
/// - While the first item of a window that is waited for lacks memory, nothing else is started.
///   Items that any window has read ahead are revoked, from the last on. The first items of other
///   windows that are waited for stay: they will be taken, and their bytes are the consumer's then.
/// - Windows that are waited for are served in the order in which the waiting began.
/// - An item that has a part of its memory gets the rest before a later one gets any. Once it is
///   waited for it stands in line for it. Those in line behind the first lose their part to that.
///
/// A single window revokes nothing unless an item is larger than guessed.
///
///     for (;;) switch (window_step s = window.next(connections_are_free()); s.what) {
///       case pull: ...; case start: ...; ...                   // after each event, and when woken
///       case none: return;
///     }
///
/// No clock, no memory, no reads of its own. The owner's `wake` is called, perhaps from inside a
/// call to another window, when next() may have something new: it must only post. One executor at
/// a time. Cost: O(1) a call, revoking aside; some 32 bytes for each item that is not taken.
class read_window {
 public:
  read_window(read_budget& budget, unique_function<void()> wake, read_window_options options = {});
  read_window(const read_window&) = delete;
  read_window& operator=(const read_window&) = delete;
  /// Gives back all that it holds: its reads have ended.
  ~read_window();

  /// What to do. `may_start` = false: only what is to be revoked, which needs no connection.
  window_step next(bool may_start = true);

  /// The next item of the source; gives its number. `by_parts`: memory is set aside for as much of
  /// it as there is room for, and for the rest as that becomes free.
  std::uint64_t add(std::optional<std::uint64_t> bytes, bool by_parts = false);
  /// The source has no more.
  void finish() noexcept { finished_ = true; }
  /// The source has nothing now, and what it may have later is not asked for while `dry`.
  void set_dry(bool dry) noexcept { dry_ = dry; }

  /// More bytes ahead are of no use now, but for one item beside the first.
  void set_most_ahead(std::uint64_t bytes) noexcept { most_ahead_ = bytes; }

  /// An item that is being read turns out to have that many bytes.
  window_fit sized(std::uint64_t item, std::uint64_t bytes, bool by_parts = false);
  /// `took`: from its start.
  void arrived(std::uint64_t item, duration took) noexcept;
  /// The read failed for good: it is ready, as an error, and holds nothing.
  void failed(std::uint64_t item);
  /// The memory of an item that was revoked, or that did not fit, is free.
  void released(std::uint64_t item);

  /// The consumer wants an item; `ready`: there is one to hand out. If not, it waits from now until
  /// taken().
  void asked(time_point now, bool ready);
  /// An item that is ready is handed out: its bytes are the consumer's. In any order.
  void taken(std::uint64_t item, time_point now);

  /// Items that may be ahead of the consumer.
  std::size_t depth() const noexcept;
  /// Items that are being read or ready, and what they hold, with what is being released.
  std::size_t ahead() const noexcept { return ahead_; }
  std::uint64_t held() const noexcept { return held_; }
  /// What is set aside for an item that is not taken.
  std::uint64_t held_by(std::uint64_t item) const noexcept { return items_[item - first_].held; }
  /// Reads that were given up for the sake of other windows, or of a larger item.
  std::uint64_t revoked() const noexcept { return revoked_; }
  /// Everything has been added and taken.
  bool drained() const noexcept { return finished_ && items_.empty(); }

 private:
  enum class state : std::uint8_t { idle, reading, ready, to_revoke, releasing, taken };
  struct entry {
    std::uint64_t size{0};  ///< or the guess
    std::uint64_t held{0};
    bool known{false};
    bool by_parts{false};
    state is{state::idle};

    /// Of its memory, all or a part.
    bool lacks() const noexcept {
      return is == state::idle || (is == state::reading && held < size);
    }
  };

  entry& at(std::uint64_t item) noexcept { return items_[item - first_]; }
  std::uint64_t end() const noexcept { return first_ + items_.size(); }
  window_step set_aside(std::uint64_t item, entry& e);
  std::optional<std::uint64_t> room_for(std::uint64_t item, const entry& e) const noexcept;
  void set_held(entry& e, std::uint64_t bytes) noexcept;
  void let_go(entry& e, state next) noexcept;
  void update_line();
  void make_room(std::uint64_t bytes);
  std::uint64_t revoke_last(std::uint64_t needed, bool first_too);
  void want_room(bool wanted) noexcept;
  void wake_others();

  read_budget& budget_;
  std::size_t place_;  ///< in budget_.windows_
  unique_function<void()> wake_;
  read_window_options options_;
  fifo<entry> items_{};  ///< from `first_` on, which is not taken
  std::uint64_t first_{0};
  std::uint64_t lacks_from_{0};  ///< no item before it lacks memory
  std::size_t ahead_{0};
  std::size_t to_revoke_{0};
  std::uint64_t revoke_below_{0};  ///< no item from there on is to be revoked
  std::uint64_t held_{0};
  std::uint64_t revoked_{0};
  std::uint64_t guess_;
  bool finished_{false};
  bool dry_{false};
  bool waiting_{false};
  bool wants_room_{false};
  // How far ahead is of use.
  std::uint64_t most_ahead_{std::numeric_limits<std::uint64_t>::max()};
  double slow_read_{0};  ///< seconds
  double think_seconds_{0};
  double thinks_{0};
  double boost_{1};
  std::uint64_t boosted_until_{0};  ///< items before it were started before the last boost
  time_point taken_at_{never};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/window.ipp>
#endif
