#pragma once

#include <dataflux/transfer/detail/engine_read.hpp>
#include <dataflux/transfer/detail/read_engine.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE read_engine::read_engine(object_store& store, scheduler& strand,
                                         const read_engine_options& options)
    : state_(
          std::make_shared<read_engine_state>(store, strand, options.concurrency, options.hedge)) {}
DATAFLUX_INLINE read_engine::~read_engine() = default;

DATAFLUX_INLINE void read_engine::start(const read_request& request, byte_sink& sink,
                                        completion done, read_member* whose) {
  read_member& member = whose != nullptr ? *whose : state_->nobodys;
  read_cache* const cache = cache_for(request);
  if (cache == nullptr) return state_->start(member, request, sink, std::move(done));
  cache->start(state_->strand, request, sink, std::move(done),
               [state = state_, &member](const read_request& left, byte_sink& to, completion then) {
                 state->start(member, left, to, std::move(then));
               });
}

DATAFLUX_INLINE read_cache* read_engine::cache_for(const read_request& request) const noexcept {
  return has_cache() && state_->cache->takes(request) ? state_->cache.get() : nullptr;
}

DATAFLUX_INLINE bool read_engine::has_cache() const noexcept { return state_->cache != nullptr; }
DATAFLUX_INLINE bool read_engine::cache_is_warm() const noexcept {
  return has_cache() && state_->cache->is_warm();
}
DATAFLUX_INLINE void read_engine::set_cache(std::shared_ptr<read_cache> cache) noexcept {
  state_->cache = std::move(cache);
}

DATAFLUX_INLINE void read_engine::look(const read_request& request, byte_sink& sink,
                                       completion done) {
  const auto missing = [](const read_request&, byte_sink&, completion then) {
    then(error(errc::not_found, "the cache does not have it"));
  };
  if (read_cache* const cache = cache_for(request)) {
    return cache->start(state_->strand, request, sink, std::move(done), missing);
  }
  state_->strand.post(
      [done = std::move(done)]() mutable { done(error(errc::not_found, "no cache takes it")); });
}

DATAFLUX_INLINE void read_engine::start_past_cache(const read_request& request, byte_sink& sink,
                                                   completion done, read_member& whose) {
  state_->start(whose, request, sink, std::move(done));
}

DATAFLUX_INLINE void read_engine::keep(const read_request& request, const read_summary& summary,
                                       bytes_view body) noexcept {
  if (read_cache* const cache = cache_for(request)) cache->keep(request, summary, body);
}

DATAFLUX_INLINE void read_engine::forget(const read_request& request) noexcept {
  if (read_cache* const cache = cache_for(request)) cache->forget(request);
}

DATAFLUX_INLINE void read_engine::forget_object(std::string_view bucket, std::string_view object,
                                                std::int64_t generation) noexcept {
  if (has_cache()) state_->cache->forget_object(bucket, object, generation);
}

DATAFLUX_INLINE bool read_engine::may_start(read_member& member) {
  if (!std::exchange(member.asks_, true)) state_->turns.join(member);
  state_->advance(&member);
  return state_->has_turn(member);
}

DATAFLUX_INLINE void read_engine::leave(read_member& member) {
  if (!std::exchange(member.asks_, false)) return;
  if (member.line_.empty()) state_->turns.leave(member);
  state_->advance();
}

DATAFLUX_INLINE object_store& read_engine::store() const noexcept { return state_->store; }
DATAFLUX_INLINE scheduler& read_engine::strand() const noexcept { return state_->strand; }
DATAFLUX_INLINE std::size_t read_engine::waiting() const noexcept { return state_->waiting; }
DATAFLUX_INLINE std::size_t read_engine::in_flight() const noexcept {
  return static_cast<std::size_t>(state_->concurrency.in_flight());
}
DATAFLUX_INLINE int read_engine::limit() const noexcept { return state_->concurrency.limit(); }
DATAFLUX_INLINE int read_engine::reach() const noexcept {
  return state_->climbing() ? state_->concurrency.most() : limit();
}
DATAFLUX_INLINE network_estimate read_engine::estimate() const noexcept {
  return state_->concurrency.estimate();
}
DATAFLUX_INLINE const hedge_counters& read_engine::hedges() const noexcept {
  return state_->hedges.counters();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
