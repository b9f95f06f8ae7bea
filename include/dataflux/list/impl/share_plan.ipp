#pragma once

#include <dataflux/detail/text_hash.hpp>
#include <dataflux/list/detail/share_plan.hpp>

#include <algorithm>
#include <charconv>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Calls of a task, at most. The more, the fewer objects has the board; the fewer, the sooner do
/// lanes that have nothing get a part of what proves to be large. bench/NOTES.md, "Shares", has
/// what other figures gave.
inline constexpr std::uint64_t share_calls = 128;
inline constexpr std::uint64_t share_calls_hungry = 32;
/// Of tasks nearest to the first one, as long as lanes have nothing: such a one is cut in any case.
inline constexpr std::uint64_t share_calls_young = 1;
inline constexpr std::uint64_t young_share_depth = 2;

DATAFLUX_INLINE share_plan::share_plan(std::uint64_t seed, duration lease, std::size_t lanes)
    : seed_(seed), lease_(lease), lanes_(lanes) {
  learn("0");
}

DATAFLUX_INLINE std::string share_plan::child_of(std::string_view id, std::size_t position) {
  return std::string(id).append(1, '.').append(std::to_string(position));
}

DATAFLUX_INLINE bool share_plan::is_task(std::string_view id) noexcept {
  if (!id.starts_with('0')) return false;
  for (std::string_view rest = id.substr(1); !rest.empty();) {
    if (rest.front() != '.') return false;
    rest.remove_prefix(1);
    const std::string_view number = rest.substr(0, rest.find('.'));
    const bool digits =
        std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || number.empty() || number.size() > 9) return false;
    if (number.size() > 1 && number.front() == '0') return false;
    rest.remove_prefix(number.size());
  }
  return true;
}

DATAFLUX_INLINE std::optional<share_plan::place> share_plan::place_of(std::string_view id) {
  const std::size_t dot = id.rfind('.');
  if (dot == std::string_view::npos || !is_task(id)) return std::nullopt;
  place found{std::string(id.substr(0, dot)), 0};
  std::from_chars(id.data() + dot + 1, id.data() + id.size(), found.position);
  return found;
}

DATAFLUX_INLINE share_plan::task& share_plan::at(std::string_view id) {
  const auto found = tasks_.find(id);
  if (found != tasks_.end()) return found->second;
  const auto depth = static_cast<std::uint64_t>(std::count(id.begin(), id.end(), '.'));
  task made;
  made.order = (depth << 48U) | (mixed_hash(id, seed_) >> 16U);
  return tasks_.emplace(std::string(id), made).first->second;
}

DATAFLUX_INLINE void share_plan::learn(std::string_view id) {
  task& t = at(id);
  if (t.known) return;
  t.known = true;
  if (!t.done) ++waiting_;
}

DATAFLUX_INLINE void share_plan::saw_rank(std::string_view name) {
  if (!ranks_.contains(name)) ranks_.emplace(name);
}

DATAFLUX_INLINE void share_plan::saw_claim(std::string_view id, std::int64_t generation,
                                           time_point now) {
  task& t = at(id);
  if (t.claim == generation) return;
  const bool same = t.claim == unknown_claim;
  t.claim = generation;
  if (same) return;
  t.since = now;
}

DATAFLUX_INLINE void share_plan::saw_done(std::string_view id, std::size_t children) {
  task& t = at(id);
  if (t.done) return;
  t.done = true;
  t.own = false;
  if (t.known) --waiting_;
  for (std::size_t i = 0; i < children; ++i) learn(child_of(id, i));
}

DATAFLUX_INLINE void share_plan::lost(const choice& of, time_point now) {
  task& t = at(of.id);
  t.own = false;
  if (t.claim != of.claim) return;  // seen meanwhile
  t.claim = unknown_claim;
  t.since = now;
}

DATAFLUX_INLINE bool share_plan::done(std::string_view id) const noexcept {
  const auto found = tasks_.find(id);
  return found != tasks_.end() && found->second.done;
}

DATAFLUX_INLINE std::vector<std::string> share_plan::all_done() const {
  std::vector<std::string> all;
  for (const auto& [id, t] : tasks_) {
    if (t.done) all.push_back(id);
  }
  return all;
}

DATAFLUX_INLINE share_plan::counts share_plan::count() const noexcept {
  counts c;
  for (const auto& [id, t] : tasks_) {
    if (!t.known || t.done) continue;
    ++c.waiting;
    if (t.claim == 0 && !t.own) ++c.open;
  }
  c.ranks = std::max<std::uint64_t>(ranks_.size(), 1);
  return c;
}

/// While many tasks are known to wait, what others did meanwhile may be guessed wrong: the worst is
/// a claim that is refused.
DATAFLUX_INLINE bool share_plan::must_look() const noexcept {
  const counts c = count();
  return c.open < lanes_ * c.ranks || chosen_ >= lanes_;
}

DATAFLUX_INLINE std::optional<share_plan::choice> share_plan::next(time_point now) {
  const std::string* best = nullptr;
  task* chosen = nullptr;
  for (auto& [id, t] : tasks_) {
    if (!t.known || t.done || t.own) continue;
    if (t.claim != 0 && now - t.since < lease_) continue;
    if (chosen != nullptr && chosen->order <= t.order) continue;
    best = &id;
    chosen = &t;
  }
  if (chosen == nullptr) return std::nullopt;
  const counts c = count();
  choice made{*best, chosen->claim};
  made.lanes = std::clamp<std::uint64_t>(c.waiting / c.ranks, 1, lanes_);
  // Few calls while lanes look for work: then what is left is cut soon.
  const bool hungry = c.open < lanes_ * c.ranks;
  const bool young = (chosen->order >> 48U) < young_share_depth;
  made.calls = !hungry ? share_calls : young ? share_calls_young : share_calls_hungry;
  ++chosen_;
  chosen->own = true;
  return made;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
