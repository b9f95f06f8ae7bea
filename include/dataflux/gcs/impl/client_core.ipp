#pragma once

#include <dataflux/exec/fork.hpp>
#include <dataflux/gcs/detail/call.hpp>
#include <dataflux/gcs/detail/client_core.hpp>
#include <dataflux/gcs/detail/read_call.hpp>
#include <dataflux/version.hpp>

#include <random>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::gcs::detail {

inline std::string user_agent_of(const client_options& o) {
  const std::string own = "dataflux/" DATAFLUX_VERSION;
  return o.user_agent.empty() ? own : o.user_agent + " " + own;
}

DATAFLUX_INLINE std::string quota_project_of(const client_options& o,
                                             const auth::credentials_ptr& c) {
  if (!o.quota_project.empty() || !c) return o.quota_project;
  return c->facts().quota_project;
}

DATAFLUX_INLINE client_core::client_core(client_options o, gcs::endpoint e,
                                         std::shared_ptr<http::transport> t,
                                         auth::credentials_ptr credentials)
    : options(std::move(o)),
      where(std::move(e)),
      user_agent(user_agent_of(options)),
      quota_project(quota_project_of(options, credentials)),
      tokens(std::make_unique<auth::token_cache>(
          std::move(credentials), *t, auth::token_cache_options{.observer = options.observer})),
      generation(fork_generation()),
      owned_transport_(std::move(t)),
      transport_(owned_transport_.get()) {}

DATAFLUX_INLINE client_core::~client_core() {
  for (read_call* c : spare_reads_) delete c;
}

DATAFLUX_INLINE bool client_core::forked() const noexcept {
  return fork_generation() != generation;
}

inline std::mt19937_64 make_random_engine() {
  std::random_device device;
  std::seed_seq seed{device(), device(), device(), device()};
  return std::mt19937_64(seed);
}

inline std::mt19937_64& random_engine() {
  static thread_local std::mt19937_64 engine = make_random_engine();
  static thread_local std::uint64_t made_in = fork_generation();
  // Also anew in the child of a fork, which would repeat its parent's numbers.
  if (made_in != fork_generation()) {
    engine = make_random_engine();
    made_in = fork_generation();
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
  return lines_.try_emplace(&lane, lane).first->second;
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

DATAFLUX_INLINE ref<read_call> client_core::take_read_call() {
  read_call* spare = nullptr;
  if (!forked()) {
    std::scoped_lock lock(mutex_);
    if (!spare_reads_.empty()) {
      spare = spare_reads_.back();
      spare_reads_.pop_back();
    }
  }
  if (spare == nullptr) spare = new read_call(buffers);
  spare->reuse(ref<client_core>::share(this));
  return ref<read_call>::adopt(spare);
}

DATAFLUX_INLINE bool client_core::put_back(read_call& c) noexcept {
  static constexpr std::size_t most = 1024;
  if (forked()) return false;
  std::scoped_lock lock(mutex_);
  if (closing_ || spare_reads_.size() >= most) return false;
  try {
    spare_reads_.push_back(&c);
  } catch (...) {
    return false;
  }
  return true;
}

}  // namespace dataflux::inline DATAFLUX_ABI::gcs::detail
