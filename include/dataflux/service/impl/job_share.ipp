#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/detail/seconds.hpp>
#include <dataflux/http/detail/pacing.hpp>
#include <dataflux/service/detail/job_share.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

namespace job {

/// Processes that start evenly still meet by chance; at the full rate some would be refused.
inline constexpr double margin = 0.98;
inline constexpr double least_part = 0.05;
inline constexpr double room = 1.25;
inline constexpr double nearly_all = 0.9;
/// The service scales a bucket by the load that it sees.
inline constexpr double used_enough = 0.5;
/// Refused of those started: more is a limit, and not chance.
inline constexpr double refused_too_many = 0.005;
inline constexpr double back_off = 0.98;
inline constexpr double lowest_level = 0.01;  ///< of what the options say
inline constexpr double highest_level = 1e9;
inline constexpr double shortest_beat = 1e-3;
inline constexpr double whatever = std::numeric_limits<double>::infinity();

/// One more start than in this beat is always likely.
inline double want_of(double used, double passed) noexcept { return room * used + 1 / passed; }
inline double want_of(const job_budget& b, double least) noexcept {
  return b.more ? whatever : std::max(b.want, least);
}

}  // namespace job

DATAFLUX_INLINE std::vector<double> share_evenly(double total, std::span<const double> wants) {
  std::vector<std::size_t> order(wants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return wants[a] < wants[b]; });
  std::vector<double> shares(wants.size());
  auto left = static_cast<double>(wants.size());
  for (const std::size_t i : order) {
    shares[i] = std::min(wants[i], total / left);
    total -= shares[i];
    left -= 1;
  }
  const double spare = std::max(total, 0.0) / static_cast<double>(std::max(wants.size(), {1}));
  for (double& each : shares) each += spare;
  return shares;
}

DATAFLUX_INLINE job_share::job_share(job_share_options options, time_point now)
    : options_(with_defaults<&job_share_options::processes, &job_share_options::reads,
                             &job_share_options::writes, &job_share_options::doubling,
                             &job_share_options::lease>(options)),
      began_(now),
      now_(now) {
  tell();
}

DATAFLUX_INLINE void job_share::saw(std::string_view record, time_point now) {
  auto read = read_job_record(record);
  if (!read || read->rank == options_.rank || read->rank >= options_.processes) return;
  peer& from = peers_[read->rank];
  if (from.text == record) return;
  from.again = !from.text.empty();
  from.text = record;
  from.changed = now;
  from.budgets = std::move(read->budgets);
}

DATAFLUX_INLINE std::uint32_t job_share::living() const noexcept {
  // Those of whom nothing was seen yet may be about to begin.
  const auto seen = static_cast<std::uint32_t>(peers_.size());
  auto count = early() ? options_.processes - seen : 1;
  for (const auto& [rank, each] : peers_) count += lives(each) ? 1U : 0U;
  return count;
}

DATAFLUX_INLINE std::uint32_t job_share::lowest() const noexcept {
  std::uint32_t expected = 0;
  for (const auto& [rank, each] : peers_) {
    if (rank > options_.rank || (early() && rank != expected)) break;
    if (lives(each)) return rank;
    ++expected;
  }
  return early() ? std::min(expected, options_.rank) : options_.rank;
}

DATAFLUX_INLINE double job_share::first_limit(bool writes) const noexcept {
  return job::margin * base(writes) / living();
}

DATAFLUX_INLINE std::vector<job_limit> job_share::beat(std::span<const pacing_snapshot> lanes,
                                                       time_point now) {
  const double passed = std::max(to_seconds(now - now_), job::shortest_beat);
  now_ = std::max(now, now_);
  ++beats_;
  for (const pacing_snapshot& each : lanes) look_at(each, passed);
  std::vector<job_limit> limits;
  for (auto& [of, b] : budgets_) {
    add_lanes(of, b, passed);
    const sum all = add_up(of, b);
    advance(b, all, passed);
    set_limits(b, all, passed, limits);
  }
  tell();
  return limits;
}

DATAFLUX_INLINE void job_share::look_at(const pacing_snapshot& seen, double passed) {
  const bool writes = seen.kind == http::to_string(http::operation_class::write);
  const bool second = seen.kind == http::to_string(http::operation_class::metadata);
  auto found = budgets_.find(key(seen.bucket, writes));
  if (found == budgets_.end()) {
    if (budgets_.size() == most_job_budgets) return;
    found = budgets_.try_emplace(key(seen.bucket, writes)).first;
    found->second.own.level = base(writes);
    found->second.share = first_limit(writes);
  }
  lane& l = found->second.lanes[second ? 1 : 0];
  // Counters begin anew with another client.
  const bool anew = seen.started < l.started || seen.rejected < l.rejected;
  l.used = static_cast<double>(seen.started - (anew ? 0 : l.started)) / passed;
  l.refused = static_cast<double>(seen.rejected - (anew ? 0 : l.rejected)) / passed;
  l.started = seen.started;
  l.rejected = seen.rejected;
  l.more = seen.waiting > 0 || (l.limit > 0 && l.used >= job::nearly_all * l.limit);
  l.there = true;
}

DATAFLUX_INLINE void job_share::add_lanes(const key& of, budget& b, double passed) {
  b.own = {.bucket = of.first, .writes = of.second, .level = b.own.level};
  for (const lane& each : b.lanes) {
    b.own.used += each.used;
    b.own.refused += each.refused;
    b.own.more = b.own.more || each.more;
  }
  b.own.want = job::want_of(b.own.used, passed);
}

DATAFLUX_INLINE job_share::sum job_share::add_up(const key& of, const budget& b) const {
  const double least = job::least_part * job::margin * b.own.level / living();
  sum all{.used = b.own.used, .refused = b.own.refused};
  all.wants.push_back(job::want_of(b.own, least));
  for (const auto& [rank, each] : peers_) {
    if (!lives(each) || !each.again) continue;
    const auto told = std::find_if(
        each.budgets.begin(), each.budgets.end(),
        [&of](const job_budget& t) { return t.bucket == of.first && t.writes == of.second; });
    if (told == each.budgets.end()) {
      all.wants.push_back(least);
      continue;
    }
    if (rank < options_.rank && all.leader == nullptr) all.leader = &*told;
    all.used += told->used;
    all.refused += told->refused;
    all.wants.push_back(job::want_of(*told, least));
  }
  all.wants.resize(living(), job::whatever);
  return all;
}

DATAFLUX_INLINE void job_share::advance(budget& b, const sum& all, double passed) const {
  double& level = b.own.level;
  if (all.leader != nullptr) {
    level = all.leader->level;
  } else if (all.refused > job::refused_too_many * all.used) {
    // What was refused shows for two beats: in the record of its process, and in its sum here.
    if (to_seconds(now_ - b.backed_off) < 2 * passed) return;
    level *= job::back_off;
    b.backed_off = now_;
  } else if (all.used >= job::used_enough * level) {
    const double counted = std::min(passed, to_seconds(options_.lease));
    level *= std::exp2(counted / to_seconds(options_.doubling));
  }
  level = std::clamp(level, job::lowest_level * base(b.own.writes), job::highest_level);
}

DATAFLUX_INLINE void job_share::set_limits(budget& b, const sum& all, double passed,
                                           std::vector<job_limit>& limits) {
  const double total = job::margin * b.own.level;
  const double least = job::least_part * total / static_cast<double>(all.wants.size());
  // The others have thought this process dead.
  if (passed > to_seconds(options_.lease)) b.share = least;
  const double share = share_evenly(total, all.wants).front();
  const double now = std::min(share, b.share);
  b.share = share;
  std::vector<double> wants;
  for (const lane& each : b.lanes) {
    if (!each.there) continue;
    const double want = each.more ? job::whatever : job::want_of(each.used, passed);
    wants.push_back(std::max(want, job::least_part * now));
  }
  const std::vector<double> parts = share_evenly(now, wants);
  auto part = parts.begin();
  for (std::size_t i = 0; i < b.lanes.size(); ++i) {
    if (!b.lanes[i].there) continue;
    const auto kind = b.own.writes ? http::operation_class::write
                      : i == 0     ? http::operation_class::read
                                   : http::operation_class::metadata;
    b.lanes[i].limit = *part;
    limits.push_back({b.own.bucket, http::to_string(kind), *part++});
  }
}

DATAFLUX_INLINE void job_share::tell() {
  job_record record{.rank = options_.rank, .beat = beats_};
  for (const auto& [of, b] : budgets_) record.budgets.push_back(b.own);
  std::stable_sort(record.budgets.begin(), record.budgets.end(),
                   [](const job_budget& a, const job_budget& b) { return a.used > b.used; });
  record_ = write_job_record(record);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
