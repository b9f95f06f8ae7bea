#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/detail/unique_name.hpp>
#include <dataflux/download/detail/composer.hpp>
#include <dataflux/transfer/detail/composite_label.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

/// - untried -> trial: the first composite is begun, and no second one is.
/// - trial -> on: it was made and removed again. From now on several are made at once.
/// - trial -> untried: it was refused, or may still be there, for a reason that may pass.
/// - any -> off: the bucket, or this job's rights, do not allow it, or most_refusals came one after
///   the other. It stays off, and the observer is told.
///
/// A composite is under way from begin() to made() or refused(); both wake the stream, which may
/// begin another one. What comes of the removal (removed, left) may come after the stream has its
/// bytes.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// One group may hold objects of several storage classes, or one that was overwritten; a bucket in
/// which so many fail one after the other is of another kind.
inline constexpr int most_refusals = 8;
/// What has not been composed by then is read faster one by one, and a stream that ends waits for
/// it.
inline constexpr duration compose_timeout = std::chrono::seconds(10);

DATAFLUX_INLINE composer::composer(transfer_state& core, std::string bucket,
                                   const compose_options& options, unique_function<void()> wake)
    : core_(core),
      bucket_(std::move(bucket)),
      options_(with_defaults<&compose_options::max_bytes, &compose_options::min_objects,
                             &compose_options::lifetime>(options)),
      wake_(std::move(wake)) {
  if (core.engine.store().traits().max_compose_sources < 2) is_ = state::off;
}

DATAFLUX_INLINE std::size_t composer::min_objects() const noexcept {
  return std::max<std::size_t>(options_.min_objects, 2);
}

DATAFLUX_INLINE composite_group composer::group() const noexcept {
  return {std::min(options_.max_bytes, core_.budget.cap() / 8),
          core_.engine.store().traits().max_compose_sources};
}

DATAFLUX_INLINE bool composer::idle() const noexcept {
  return under_way_ < static_cast<std::size_t>(std::max(core_.engine.limit(), 1));
}

DATAFLUX_INLINE bool composer::begin() {
  if (is_ == state::off || is_ == state::trial) return false;
  if (is_ == state::untried) is_ = state::trial;
  ++under_way_;
  return true;
}

DATAFLUX_INLINE compose_request composer::request() {
  const auto now =
      std::chrono::time_point_cast<timestamp::duration>(std::chrono::system_clock::now());
  const composite_label label = make_composite_label(now, options_.lifetime);
  compose_request r;
  r.bucket = bucket_;
  r.object = composite_name(system_entropy::bits(), system_entropy::bits());
  r.attributes.metadata = to_metadata(label);
  // A lifecycle rule of the bucket, by days since the custom time, can then remove orphans, too.
  r.attributes.custom_time = label.expires;
  r.conditions.if_generation_match = 0;
  r.limits.timeout = compose_timeout;
  return r;
}

DATAFLUX_INLINE void composer::ended() {
  --under_way_;
  wake_();
}

DATAFLUX_INLINE void composer::made() {
  ++core_.counters.composites;
  refusals_ = 0;
  ended();
}

DATAFLUX_INLINE void composer::refused(const error& why) {
  if (is_ == state::trial) is_ = state::untried;
  switch (why.code()) {
    case errc::permission_denied:
    case errc::unauthenticated:
    case errc::unimplemented:
      give_up(why);
      break;
    case errc::not_found:  // a source is gone, which says nothing of the bucket
      break;
    default:
      if (++refusals_ == most_refusals) give_up(why);
  }
  ended();
}

DATAFLUX_INLINE void composer::removed(const result<void>& outcome, std::string_view name) {
  // Somebody may have swept it away.
  if (outcome || outcome.error().code() == errc::not_found) {
    if (is_ == state::trial) is_ = state::on;
    return;
  }
  left(outcome.error(), name);
}

DATAFLUX_INLINE void composer::left(const error& why, std::string_view name) {
  ++core_.counters.composites_left;
  say("gs://" + bucket_ + "/" + std::string(name) +
      " was composed for a download and may still be there, a sweep removes it: " +
      why.to_string());
  const errc code = why.code();
  // While the service is out of reach for a moment, only this one is lost.
  const bool for_good = code == errc::permission_denied || code == errc::failed_precondition ||
                        code == errc::invalid_argument || code == errc::unimplemented;
  if (for_good) give_up(why);
  if (is_ == state::trial) is_ = state::untried;
}

DATAFLUX_INLINE void composer::give_up(const error& why) {
  if (std::exchange(is_, state::off) == state::off) return;
  say("gs://" + bucket_ +
      ": composing is given up, objects are read one by one from here on: " + why.to_string());
}

DATAFLUX_INLINE void composer::say(const std::string& line) const {
  if (options_.observer != nullptr) options_.observer->on_log(log_level::warning, line);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
