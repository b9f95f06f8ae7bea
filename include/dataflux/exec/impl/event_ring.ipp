#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/detail/text.hpp>
#include <dataflux/exec/event_ring.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// So that the capacity bounds the memory, too.
inline constexpr std::size_t longest_event_text = 1024;

inline std::string event_text(std::string_view text) {
  if (text.size() <= longest_event_text) return std::string(text);
  return std::string(whole_characters(text.substr(0, longest_event_text)));
}

/// Of so many calls it is known when their progress was kept.
inline constexpr std::size_t most_calls_told = 4096;
/// From so many on those are forgotten that have told nothing for a while.
inline constexpr std::size_t few_calls_told = 64;

inline std::size_t identity_of(const progress_event& event) noexcept {
  std::size_t mixed = std::hash<std::uint64_t>{}(event.call);
  for (const std::string_view text : {event.what, event.bucket, event.object}) {
    mixed = mixed * 0x9e3779b97f4a7c15U + std::hash<std::string_view>{}(text);
  }
  return mixed;
}

}  // namespace detail

DATAFLUX_INLINE std::string_view to_string(event_kind kind) noexcept {
  switch (kind) {
    case event_kind::log:
      return "log";
    case event_kind::retry:
      return "retry";
    case event_kind::progress:
      return "progress";
    case event_kind::token_needed:
      return "token_needed";
  }
  return "log";
}

DATAFLUX_INLINE event_ring::event_ring(const event_ring_options& options) noexcept
    : options_{.capacity = detail::or_default<std::size_t>(options.capacity, 1024),
               .least = options.least,
               .progress_every = detail::or_default<duration>(options.progress_every,
                                                              std::chrono::milliseconds(100))} {}

DATAFLUX_INLINE std::vector<observed_event> event_ring::take(std::size_t max) {
  std::vector<observed_event> out;
  if (born_.inherited()) return out;
  std::scoped_lock lock(mutex_);
  out.reserve(std::min(max, events_.size() + 1));
  if (max > 0 && token_needed_at_) {
    observed_event& asked = out.emplace_back();
    asked.kind = event_kind::token_needed;
    asked.time = *std::exchange(token_needed_at_, std::nullopt);
  }
  while (out.size() < max && !events_.empty()) {
    out.push_back(std::move(events_.front()));
    events_.pop_front();
  }
  return out;
}

DATAFLUX_INLINE void event_ring::notify(completion_queue& queue, std::uint64_t tag) {
  if (born_.inherited()) return;
  std::scoped_lock lock(mutex_);
  bells_.add(queue, tag);
  if (token_needed_at_ || !events_.empty()) bells_.ring();
}

DATAFLUX_INLINE void event_ring::silence() {
  if (born_.inherited()) return;
  std::scoped_lock lock(mutex_);
  bells_.clear();
}

DATAFLUX_INLINE std::uint64_t event_ring::dropped() const {
  if (born_.inherited()) return 0;
  std::scoped_lock lock(mutex_);
  return dropped_;
}

/// Texts are made under the lock, so that one that is dropped costs none.
template <class Fill>
void event_ring::keep(event_kind kind, Fill fill) noexcept {
  if (born_.inherited()) return;
  std::scoped_lock lock(mutex_);
  keep_locked(kind, fill);
}

template <class Fill>
void event_ring::keep_locked(event_kind kind, Fill fill) noexcept {
  if (events_.size() >= options_.capacity) {
    ++dropped_;
    return;
  }
  try {
    observed_event made;
    made.kind = kind;
    made.time = std::chrono::system_clock::now();
    fill(made);
    events_.push_back(std::move(made));
  } catch (...) {
    ++dropped_;
    return;
  }
  ring();
}

/// Who is not told for want of memory is told with the next event.
DATAFLUX_INLINE void event_ring::ring() noexcept {
  try {
    bells_.ring();
  } catch (...) {
  }
}

/// Where there is no memory to know it, nothing comes too soon. With the lock.
DATAFLUX_INLINE bool event_ring::too_soon(const progress_event& event, bool ends) noexcept {
  const time_point now = clock::now();
  const auto is_over = [&](const auto& told) {
    return now - told.second >= options_.progress_every;
  };
  try {
    if (last_progress_.size() >= detail::few_calls_told) std::erase_if(last_progress_, is_over);
    if (last_progress_.size() >= detail::most_calls_told) last_progress_.clear();
    const auto [told, first] = last_progress_.try_emplace(detail::identity_of(event), now);
    if (!first && !ends && !is_over(*told)) return true;
    told->second = now;
  } catch (...) {
  }
  return false;
}

DATAFLUX_INLINE void event_ring::need_token() noexcept {
  if (born_.inherited()) return;
  std::scoped_lock lock(mutex_);
  if (token_needed_at_) return;
  token_needed_at_ = std::chrono::system_clock::now();
  ring();
}

DATAFLUX_INLINE void event_ring::on_log(log_level level, std::string_view line) noexcept {
  if (level < options_.least) return;
  keep(event_kind::log, [&](observed_event& e) {
    e.level = level;
    e.text = detail::event_text(line);
  });
}

DATAFLUX_INLINE void event_ring::on_retry(const retry_event& event) noexcept {
  keep(event_kind::retry, [&](observed_event& e) {
    e.level = log_level::warning;
    if (event.cause != nullptr) e.text = detail::event_text(event.cause->to_string());
    e.verb = event.verb;
    e.bucket = event.bucket;
    e.object = event.object;
    e.attempt = event.attempt;
    e.delay = event.delay;
  });
}

DATAFLUX_INLINE void event_ring::on_list(const list_event& event) noexcept {
  tell_progress({.what = "listing",
                 .bucket = event.bucket,
                 .object = event.prefix,
                 .done = event.listed,
                 .total = event.expected,
                 // A call that was asked twice may be in flight still.
                 .last = event.open_ranges == 0,
                 .call = event.call});
}

DATAFLUX_INLINE void event_ring::tell_progress(const progress_event& event) noexcept {
  if (born_.inherited()) return;
  const bool ends = event.last || (event.done == event.total && event.total > 0);
  std::scoped_lock lock(mutex_);
  if (too_soon(event, ends)) return;
  keep_locked(event_kind::progress, [&](observed_event& e) {
    e.verb = event.what;
    e.bucket = event.bucket;
    e.object = event.object;
    e.done = event.done;
    e.total = event.total;
    e.call = event.call;
  });
}

DATAFLUX_INLINE std::function<void(std::uint64_t)> event_ring::progress_of(std::string what,
                                                                           std::string bucket,
                                                                           std::string object,
                                                                           std::uint64_t total,
                                                                           std::uint64_t call) {
  return
      [this, what = std::move(what), bucket = std::move(bucket), object = std::move(object), total,
       call, done = std::make_shared<std::atomic<std::uint64_t>>(0)](std::uint64_t bytes) {
        const std::uint64_t all = done->fetch_add(bytes, std::memory_order_relaxed) + bytes;
        tell_progress({.what = what,
                       .bucket = bucket,
                       .object = object,
                       .done = all,
                       .total = total,
                       .call = call});
      };
}

}  // namespace dataflux::inline DATAFLUX_ABI
