#pragma once

#include <dataflux/detail/unique_name.hpp>
#include <dataflux/exec/detail/blocking_worker.hpp>
#include <dataflux/service/detail/call.hpp>
#include <dataflux/service/detail/client_core.hpp>
#include <dataflux/version.hpp>

#include <algorithm>
#include <random>
#include <tuple>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

inline http::header_list own_fields_of(const call_options& o) {
  const std::string own = "dataflux/" DATAFLUX_VERSION;
  http::header_list fields;
  fields.add("User-Agent", o.user_agent.empty() ? own : o.user_agent + " " + own);
  return fields;
}

DATAFLUX_INLINE client_core::client_core(call_options o,
                                         std::unique_ptr<const service::dialect> how,
                                         std::unique_ptr<service::signer> who,
                                         std::shared_ptr<http::transport> t)
    : options(std::move(o)),
      dialect(std::move(how)),
      signer(std::move(who)),
      own_fields(own_fields_of(options)),
      latencies(t->threads(), dialect->verbs()),
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
  detail::system_entropy seed;
  return std::mt19937_64(seed);
}

inline std::mt19937_64& random_engine() {
  static thread_local std::mt19937_64 engine = make_random_engine();
  static thread_local detail::process_stamp made_in;
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

DATAFLUX_INLINE result<void> client_core::limit_rate(std::string_view bucket, std::string_view kind,
                                                     double rate) {
  if (forked()) return forked_error("client");
  for (const auto c : {pacing_class::read, pacing_class::write, pacing_class::metadata}) {
    if (http::to_string(c) != kind) continue;
    if (bucket.empty()) {
      pacing_.limit_new(c, rate);
    } else {
      pacing_.of(bucket, c).limit(rate, transport().next_executor().now());
    }
    return {};
  }
  return error(errc::invalid_argument, "kind: read, write or metadata");
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
  signer.reset();
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

DATAFLUX_INLINE void end_core(ref<client_core>& core) noexcept {
  if (core->forked()) {
    static_cast<void>(core.leak());  // its threads and locks are the parent's
    return;
  }
  // The transport must not end on one of its own threads, where a task that is still posted may
  // hold the last reference to the core.
  const auto end = [](client_core& of) {
    of.close();
    of.end_transport();
  };
  if (!core->transport().is_current()) {
    end(*core);
    return;
  }
  // Without a thread that may wait, or memory for the step, it is leaked.
  static_cast<void>(detail::try_file_step([kept = core.leak(), end] {
    end(*kept);
    static_cast<void>(ref<client_core>::adopt(kept));
  }));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
