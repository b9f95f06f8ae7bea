#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

/// What a look at an object says to a write of which the last writer wins (`last_writer_wins` of a
/// request) whose outcome is not known: decisions only, no clock and no socket.
namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// How old what was found is, against the first request of the call.
enum class object_age : std::uint8_t {
  unknown,  ///< the service's clock does not tell yet, or at all
  older,    ///< it was there before: no request of the call was carried out
  newer,    ///< made since
};

enum class look_verdict : std::uint8_t {
  stands,   ///< the error that led here is the answer
  done,     ///< success
  again,    ///< not carried out: sent again, under the condition that all is as it was found
  theirs,   ///< another writer came in between, and what it wrote stays
  unclear,  ///< to be looked at once more, later
};

/// What to do about an object that is not the one that the call was to make.
struct last_writer_rule {
  look_verdict nothing{look_verdict::stands};  ///< there is none
  look_verdict older{look_verdict::stands};
  look_verdict newer{look_verdict::stands};
};

/// What is there must be older than the call to be replaced.
inline constexpr last_writer_rule last_writer_replaces{look_verdict::again, look_verdict::again,
                                                       look_verdict::theirs};
/// What was to go is gone, too, where something newer is there.
inline constexpr last_writer_rule last_writer_removes{look_verdict::done, look_verdict::again,
                                                      look_verdict::done};

/// `found`: nothing where no object is there.
constexpr look_verdict verdict_of(const last_writer_rule& rule,
                                  std::optional<object_age> found) noexcept {
  if (!found) return rule.nothing;
  if (*found == object_age::unknown) return look_verdict::unclear;
  return *found == object_age::older ? rule.older : rule.newer;
}

/// The same for a move, which is told by both of its names: one that was carried out leaves no
/// source, or one that was put there since, and an object that was not there before.
constexpr look_verdict verdict_of_move(const last_writer_rule& rule,
                                       std::optional<object_age> target,
                                       std::optional<object_age> source) noexcept {
  const bool may_be_moved = target && *target != object_age::older;
  // Else somebody took away the one or the other: there is nothing to send again.
  if (!source) return may_be_moved ? look_verdict::done : look_verdict::stands;
  if (*source == object_age::unknown) return look_verdict::unclear;
  if (*source == object_age::newer && may_be_moved) return look_verdict::done;
  return verdict_of(rule, target);
}

/// Whether what has that stamp is from before `moment`. A stamp of a whole second may be a date of
/// HTTP, as S3's all are: it is of any time within that second.
constexpr bool is_before(timestamp stamp, timestamp moment) noexcept {
  using std::chrono::seconds;
  if (stamp.time_since_epoch() % seconds(1) != timestamp::duration{}) return stamp < moment;
  return std::chrono::floor<seconds>(stamp.time_since_epoch()) <
         std::chrono::floor<seconds>(moment.time_since_epoch());
}

/// When the first request of a call reached the service, by the service's clock, which says no more
/// than the second of each reply: within bounds that each look narrows.
class first_moment {
 public:
  /// `served`: the reply's Date. Of the looking request, `asked` and `answered` say how long after
  /// the call's first one it was sent, and its reply had come.
  void narrow(timestamp served, duration asked, duration answered) noexcept {
    const auto before = [](timestamp when, duration by) {
      return when - std::chrono::duration_cast<timestamp::duration>(by);
    };
    earliest_ = std::max(earliest_, before(served, answered));
    latest_ = std::min(latest_, before(served + std::chrono::seconds(1), asked));
  }
  /// Whether the service tells the time at all.
  bool told() const noexcept { return earliest_ != timestamp::min(); }
  /// Of an object whose stamp that is.
  object_age age_of(std::optional<timestamp> stamp) const noexcept {
    if (!stamp || !told()) return object_age::unknown;
    if (is_before(*stamp, earliest_)) return object_age::older;
    return *stamp >= latest_ ? object_age::newer : object_age::unknown;
  }

 private:
  timestamp earliest_{timestamp::min()};
  timestamp latest_{timestamp::max()};
};

/// When an object was last changed, to the millisecond, and behind that in one word which object it
/// is, so that two of one millisecond are told apart. 0: nothing says so.
inline std::uint64_t last_change_of(const object_metadata& seen) noexcept {
  const timestamp stamp =
      std::max(seen.created.value_or(timestamp{}), seen.updated.value_or(timestamp{}));
  const auto time = std::chrono::floor<std::chrono::milliseconds>(stamp).time_since_epoch().count();
  if (time <= 0) return 0;
  const auto mixed = (static_cast<std::uint64_t>(seen.generation) * 31U +
                      static_cast<std::uint64_t>(seen.metageneration)) *
                     0x9e3779b97f4a7c15U;
  return (static_cast<std::uint64_t>(time) << 20U) | (mixed >> 44U);
}

/// Of a stamp of an object that was found, and a known_past from before the call: it is of that
/// time, or from before it.
inline bool is_past(std::uint64_t past, timestamp stamp, const object_metadata& found) noexcept {
  const auto since = std::chrono::milliseconds(static_cast<std::int64_t>(past >> 20U));
  return is_before(stamp, timestamp{since}) || (past != 0 && last_change_of(found) == past);
}

/// What is past by the service's clock: the last change of all the objects that a client was told
/// of. What a reply tells has happened before all that is sent after it; so no two clocks are
/// compared. Thread-safe, without a lock.
class known_past {
 public:
  /// A reply told of that object. `served` gives its Date: a change that is not before that is not
  /// believed.
  template <class Served>
  void note(const object_metadata& told, const Served& served) noexcept {
    const std::uint64_t change = last_change_of(told);
    std::uint64_t known = latest_.load(std::memory_order_relaxed);
    if (change <= known) return;
    const std::optional<timestamp> date = served();
    const auto end = date.value_or(timestamp{}) + std::chrono::seconds(1);
    if (std::chrono::milliseconds(static_cast<std::int64_t>(change >> 20U)) >=
        end.time_since_epoch()) {
      return;
    }
    while (change > known &&
           !latest_.compare_exchange_weak(known, change, std::memory_order_relaxed)) {
    }
  }
  /// For is_past().
  std::uint64_t now() const noexcept { return latest_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> latest_{0};  ///< as last_change_of()
};

/// An object between the bounds is looked at again after so long, which is no part of a second, so
/// that the looks come at different times of it.
inline constexpr duration between_looks = std::chrono::milliseconds(130);
/// More than a second together.
inline constexpr int most_looks = 10;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
