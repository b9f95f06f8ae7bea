#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/service/detail/job_record.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// How the processes of a job share the rate that a bucket takes. Pure arithmetic over times that
/// are passed in and texts that somebody else carries: no clock, no board.
namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// 0 = the default of each but the rank.
struct job_share_options {
  std::uint32_t rank{0};
  std::uint32_t processes{1};
  /// What a bucket takes a second when nobody has used it yet, reads with listings and metadata;
  /// and in what time that doubles while it is used (protocol.md 3.3).
  double reads{5000};
  double writes{1000};
  duration doubling{std::chrono::minutes(20)};
  /// A process whose record has not changed for so long is dead, and the others take its share.
  duration lease{std::chrono::seconds(30)};
};

/// Starts a second that a client may make from now on; the class is one of pacing_snapshot::kind.
struct job_limit {
  std::string bucket{};
  std::string_view kind{};
  double rate{0};
};

/// What each wants of `total`, cut evenly where there is too little: nobody gets more than it
/// wants, and what one leaves is of the others. What all leave is given to all evenly. By
/// infinity a process says that it takes whatever it gets.
std::vector<double> share_evenly(double total, std::span<const double> wants);

/// The part of one process. Each beat it looks at what the others say and at what its own client
/// does, and says how fast that client may go on.
///
/// For each bucket, reads and writes each by themselves:
/// - The **level** is what all may start together. It begins as the options say, and doubles in
///   their time while at least half of it is used. If the service refuses some all the same, it
///   falls by 2 %. The process with the lowest rank that lives and uses the bucket leads: it
///   computes the level, and the others take it from its record. Whoever leads next goes on from
///   there. So it takes no clock that all agree on.
/// - Each takes its **share** of 0.98 of the level by itself: share_evenly() of what those who live
///   want. Who waits for turns, or uses nearly all it may, wants more; else a quarter and one start
///   more than it uses. Nobody has less than a twentieth of an even part, with which to begin
///   again.
/// - A share that grows is taken a beat later. By then the others have seen why, and given way.
/// - A process of which nothing was seen yet counts for a `lease`, as one that wants more. So a
///   start from cold begins with even parts, before anybody has said a word. One whose record has
///   not changed since it was first seen counts so, too: it may lie there since an earlier run.
///
/// A process that sees nobody any more is alone after a `lease`, and has the whole level; then its
/// client's own pacing is what holds it. A record that is damaged, of a process that is not of the
/// job, or of its own is passed over.
///
/// Errors: none. Threads: one at a time. Cost: memory of some 100 bytes for a bucket that a process
/// uses, of 64 at most; a beat looks at each of them.
class job_share {
 public:
  job_share(job_share_options options, time_point now);

  /// A record as it lies on the board.
  void saw(std::string_view record, time_point now);

  /// A beat: `lanes` is what the client does now. Gives the limits of these lanes.
  std::vector<job_limit> beat(std::span<const pacing_snapshot> lanes, time_point now);
  /// What the others are to see of it, anew with each beat.
  const std::string& record() const noexcept { return record_; }
  /// What lanes may start that have not been used yet, reads (metadata, too) and writes.
  double first_limit(bool writes) const noexcept;
  /// How many live, with this one.
  std::uint32_t living() const noexcept;
  /// The lowest rank that lives: who does what one is to do for all.
  std::uint32_t lowest() const noexcept;

 private:
  using key = std::pair<std::string, bool>;  ///< bucket, writes
  struct peer {
    std::string text{};
    time_point changed{};
    bool again{false};  ///< its text has changed: it is none of an earlier run's
    std::vector<job_budget> budgets{};
  };
  /// A lane of the client, since the last beat.
  struct lane {
    bool there{false};
    bool more{false};
    std::uint64_t started{0};
    std::uint64_t rejected{0};
    double used{0};
    double refused{0};
    double limit{0};
  };
  struct budget {
    std::array<lane, 2> lanes{};  ///< reads and metadata, or writes alone
    job_budget own{};
    double share{0};
    time_point backed_off{};
  };
  /// All who live, together.
  struct sum {
    double used{0};
    double refused{0};
    const job_budget* leader{nullptr};  ///< null: this process
    std::vector<double> wants{};        ///< this process's first
  };

  bool early() const noexcept { return now_ - began_ <= options_.lease; }
  bool lives(const peer& p) const noexcept { return now_ - p.changed <= options_.lease; }
  double base(bool writes) const noexcept { return writes ? options_.writes : options_.reads; }
  void look_at(const pacing_snapshot& seen, double passed);
  void add_lanes(const key& of, budget& b, double passed);
  sum add_up(const key& of, const budget& b) const;
  void advance(budget& b, const sum& all, double passed) const;
  void set_limits(budget& b, const sum& all, double passed, std::vector<job_limit>& limits);
  void tell();

  const job_share_options options_;
  const time_point began_;
  time_point now_;
  std::uint64_t beats_{0};
  std::map<std::uint32_t, peer> peers_{};
  std::map<key, budget> budgets_{};
  std::string record_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/service/impl/job_share.ipp>
#endif
