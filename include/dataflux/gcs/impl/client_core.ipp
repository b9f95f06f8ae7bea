#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/detail/system_entropy.hpp>
#include <dataflux/gcs/detail/call.hpp>
#include <dataflux/gcs/detail/client_core.hpp>
#include <dataflux/version.hpp>

#include <algorithm>
#include <random>
#include <tuple>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::gcs::detail {

inline http::header_list own_fields_of(const client_options& o) {
  const std::string own = "dataflux/" DATAFLUX_VERSION;
  http::header_list fields;
  fields.add("User-Agent", o.user_agent.empty() ? own : o.user_agent + " " + own);
  return fields;
}

DATAFLUX_INLINE std::string quota_project_of(const client_options& o,
                                             const auth::credentials_ptr& c) {
  if (!o.quota_project.empty() || !c) return o.quota_project;
  return c->facts().quota_project;
}

DATAFLUX_INLINE std::string project_of(const client_options& o, const auth::credentials_ptr& c) {
  return c && !c->facts().project.empty() ? c->facts().project : quota_project_of(o, c);
}

DATAFLUX_INLINE client_core::client_core(client_options o, gcs::endpoint e,
                                         std::shared_ptr<http::transport> t,
                                         auth::credentials_ptr credentials)
    : options(dataflux::detail::with_defaults<
              &client_options::stall_timeout, &client_options::least_throughput,
              &client_options::throughput_window, &client_options::first_byte_timeout,
              &client_options::complete_timeout, &client_options::connect_timeout>(std::move(o))),
      where(std::move(e)),
      own_fields(own_fields_of(options)),
      quota_project(quota_project_of(options, credentials)),
      project(project_of(options, credentials)),
      tokens(std::make_unique<auth::token_cache>(
          std::move(credentials), *t, auth::token_cache_options{.observer = options.observer})),
      latencies(t->threads()),
      owned_transport_(std::move(t)),
      transport_(owned_transport_.get()) {}

/// The transport is there still where no client could be made of it.
DATAFLUX_INLINE client_core::~client_core() {
  end_transport();
  for (spare_calls& spares : spares_) {
    while (spares.first != nullptr) delete std::exchange(spares.first, spares.first->next_);
  }
}

DATAFLUX_INLINE bool client_core::forked() const noexcept { return born.inherited(); }

inline std::mt19937_64 make_random_engine() {
  dataflux::detail::system_entropy seed;
  return std::mt19937_64(seed);
}

inline std::mt19937_64& random_engine() {
  static thread_local std::mt19937_64 engine = make_random_engine();
  static thread_local dataflux::detail::process_stamp made_in;
  // Also anew in the child of a fork, which would repeat its parent's numbers.
  if (made_in.inherited()) {
    engine = make_random_engine();
    made_in = {};
  }
  return engine;
}

DATAFLUX_INLINE double client_core::random() {
  return std::uniform_real_distribution<double>(0.0, 1.0)(random_engine());
}

DATAFLUX_INLINE call_id client_core::random_id() { return {random_engine()(), random_engine()()}; }

DATAFLUX_INLINE pace_line& client_core::line_of(std::string_view bucket, pacing_class c) {
  http::pacing::lane& lane = pacing_.of(bucket, c);
  std::scoped_lock lock(lines_mutex_);
  return lines_.try_emplace(&lane, lane, bucket, c).first->second;
}

DATAFLUX_INLINE client_snapshot client_core::look() {
  client_snapshot seen;
  if (forked()) return seen;
  seen.totals = totals;
  latencies.add_to(seen.verbs);
  seen.connections = transport().look();
  const time_point now = transport().next_executor().now();
  {
    std::scoped_lock lock(lines_mutex_);
    for (const auto& [lane, line] : lines_) seen.pacing.push_back(line.look(now));
  }
  std::sort(seen.pacing.begin(), seen.pacing.end(),
            [](const pacing_snapshot& a, const pacing_snapshot& b) {
              return std::tie(a.bucket, a.kind) < std::tie(b.bucket, b.kind);
            });
  return seen;
}

DATAFLUX_INLINE bool client_core::enter(call& c) {
  std::scoped_lock lock(mutex_);
  ++active_;
  c.next_ = first_;
  c.previous_ = nullptr;
  if (first_ != nullptr) first_->previous_ = &c;
  first_ = &c;
  return !closing_;
}

DATAFLUX_INLINE void client_core::leave(call& c) noexcept {
  std::scoped_lock lock(mutex_);
  (c.previous_ != nullptr ? c.previous_->next_ : first_) = c.next_;
  if (c.next_ != nullptr) c.next_->previous_ = c.previous_;
  if (--active_ == 0) empty_.notify_all();
}

DATAFLUX_INLINE void client_core::close() {
  std::unique_lock lock(mutex_);
  closing_ = true;
  // A call cannot leave, and so not go away, while the lock is held; stop() only posts.
  for (call* c = first_; c != nullptr; c = c->next_) c->stop();
  empty_.wait(lock, [this] { return active_ == 0; });
}

DATAFLUX_INLINE void client_core::end_transport() {
  tokens.reset();
  owned_transport_.reset();
}

DATAFLUX_INLINE client_core::spare_calls& client_core::spares_of(const verb_info& kind) {
  const auto found = std::find_if(spares_.begin(), spares_.end(),
                                  [&](const spare_calls& s) { return s.kind == &kind; });
  return found != spares_.end() ? *found : spares_.emplace_back(spare_calls{&kind});
}

DATAFLUX_INLINE call* client_core::take_spare(const verb_info& kind) {
  if (forked()) return nullptr;
  std::scoped_lock lock(mutex_);
  spare_calls& spares = spares_of(kind);
  if (spares.first == nullptr) return nullptr;
  --spares.count;
  return std::exchange(spares.first, spares.first->next_);
}

DATAFLUX_INLINE bool client_core::put_back(call& c) noexcept {
  static constexpr std::size_t most = 1024;
  if (forked()) return false;
  std::scoped_lock lock(mutex_);
  spare_calls& spares = spares_of(c.info());  // there since it was asked for one
  if (closing_ || spares.count >= most) return false;
  ++spares.count;
  c.next_ = std::exchange(spares.first, &c);
  return true;
}

}  // namespace dataflux::inline DATAFLUX_ABI::gcs::detail
