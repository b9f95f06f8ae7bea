#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/shard/detail/shard_plan.hpp>
#include <dataflux/shard/detail/shard_writer_state.hpp>
#include <dataflux/shard/shard_writer.hpp>
#include <dataflux/store/requests.hpp>

#include <array>
#include <new>
#include <system_error>
#include <utility>

/// A shard_writer is the face of a shard_writer_state for one thread: shard_packer says which bytes
/// a sample is, a checkpoint_writer uploads the open shard, and shard_end_call makes it appear.
///
/// The end of a shard: the two blocks of zeros; its entry, by the condition that nobody has written
/// one since the shard was opened; the commit, by the condition that the shard is not there. The
/// next shard is filled meanwhile.
///
/// Tests: shard_packer_test and shard_writer_test in simulated time; tests/python/test_shard_writer
/// kills processes.
namespace dataflux::inline DATAFLUX_ABI {

namespace detail::shard {

/// The names of shards, and that they can be meant.
inline result<shard_pattern> check_sizes(const shard_writer_request& r) {
  for (const std::string_view each : {".gz", ".tgz", ".zst", ".tzst", ".bz2", ".xz"}) {
    if (!r.pattern.ends_with(each)) continue;
    return error(errc::invalid_argument,
                 "'" + r.pattern + "': shards are written without compression, and " +
                     std::string(each) + " would say otherwise; name it .tar");
  }
  const bool limited = r.count != 0 || r.bytes != 0;
  const bool one = r.pattern.find('%') == std::string::npos && !r.pattern.empty() && !limited;
  if (!one && !limited) {
    return error(errc::invalid_argument,
                 "say how large a shard becomes: by count (samples), bytes, or both");
  }
  if (r.ranks == 0 || r.rank >= r.ranks) {
    return error(errc::invalid_argument, "rank " + std::to_string(r.rank) + " of " +
                                             std::to_string(r.ranks) +
                                             " ranks; ranks count from 0");
  }
  if (one && (r.first != 0 || r.rank != 0)) {
    return error(errc::invalid_argument,
                 "one shard has no number; write a pattern, such as train-%06d.tar");
  }
  auto pattern = one ? shard_pattern::one(r.pattern) : shard_pattern::parse(r.pattern);
  if (!pattern) return pattern;
  const auto name = pattern->name(r.first + r.rank);
  if (!name) return name.error();
  return pattern;
}

/// All that can be wrong before a request.
inline result<shard_pattern> check_request(const shard_writer_request& r) {
  auto pattern = check_sizes(r);
  if (!pattern) return pattern;
  const auto name = pattern->name(r.first + r.rank);
  const std::string longest = *name + std::string(sidecar_suffix);
  if (auto good = validate(insert_request{.bucket = r.bucket, .object = longest}); !good) {
    return std::move(good).error();
  }
  return pattern;
}

/// `act`, within the caller's turn.
template <class T, class Act>
result<T> in_turn(shard_writer_state& state, Act act) {
  const turn mine(state.busy);
  if (auto good = state.usable(mine); !good) return std::move(good).error();
  try {
    return act();
  } catch (const std::bad_alloc&) {
    return state.fail(short_of_memory());
  }
}

/// Waits for what `state` waits for. False: a signal came.
inline result<bool> wait_for_news(shard_writer_state& state) {
  if (!state.bell) {
    try {
      state.bell.emplace();
    } catch (const std::system_error&) {
      return state.fail(error(errc::resource_exhausted,
                              "the write cannot go on without a descriptor to wait by"));
    }
  }
  state.notify(*state.bell, 0);
  if (state.bell->wait(duration::max()) == completion_queue::wait_end::interrupted) return false;
  std::array<completion_event, 1> rung{};
  state.bell->next(rung, {});
  return true;
}

/// `attempt` until it says true, or a signal came where that is asked for.
template <class Attempt>
result<interruptible_writes::end> repeat(shard_writer_state& state, bool until_signal,
                                         Attempt attempt) {
  using end = interruptible_writes::end;
  return in_turn<end>(state, [&]() -> result<end> {
    for (;;) {
      auto whole = attempt();
      if (!whole) return std::move(whole).error();
      if (*whole) return end::all;
      auto rung = wait_for_news(state);
      if (!rung) return std::move(rung).error();
      if (!*rung && until_signal) return end::interrupted;
    }
  });
}

DATAFLUX_INLINE result<interruptible_writes::end> interruptible_writes::write(
    shard_writer& writer, std::string_view key, std::span<const sample_field> fields,
    bool until_signal) {
  shard_writer_state& state = *writer.state_;
  return repeat(state, until_signal, [&] { return state.try_write(key, fields); });
}

DATAFLUX_INLINE result<interruptible_writes::end> interruptible_writes::write_end(
    shard_writer& writer, bool until_signal) {
  shard_writer_state& state = *writer.state_;
  return repeat(state, until_signal, [&] { return state.try_end(); });
}

}  // namespace detail::shard

DATAFLUX_INLINE operation<shard_writer> shard_writer::submit_open(const transfer_context& context,
                                                                  shard_writer_request request) {
  call_limits limits{.stop = request.stop};
  return start_operation<shard_writer>(
      limits, [&](auto done) { open_with(context, std::move(request), limits, std::move(done)); });
}

DATAFLUX_INLINE void shard_writer::start_open(const transfer_context& context,
                                              shard_writer_request request,
                                              object_store::completion<shard_writer> done) {
  const call_limits limits{.stop = request.stop};
  open_with(context, std::move(request), limits, std::move(done));
}

DATAFLUX_INLINE void shard_writer::open_with(const transfer_context& context,
                                             shard_writer_request request,
                                             const call_limits& limits,
                                             object_store::completion<shard_writer> done) {
  auto pattern = detail::shard::check_request(request);
  if (!pattern) return done(std::move(pattern).error());
  auto state = std::make_shared<detail::shard::shard_writer_state>(context, request, *pattern);
  if (!request.resume) return done(shard_writer(std::move(state)));
  auto surveyed = [state = std::move(state),
                   done = std::move(done)](result<resumed_shards> found) mutable {
    if (!found) return done(std::move(found).error());
    state->resume(*found);
    done(shard_writer(std::move(state)));
  };
  const std::string bucket = request.bucket;
  std::make_shared<detail::shard::shard_survey>(context, std::move(request), *std::move(pattern),
                                                limits, std::move(surveyed))
      ->start(bucket);
}

DATAFLUX_INLINE shard_writer& shard_writer::operator=(shard_writer&& other) noexcept {
  if (this != &other) {
    drop();
    state_ = std::move(other.state_);
  }
  return *this;
}

DATAFLUX_INLINE void shard_writer::drop() noexcept {
  auto state = std::move(state_);
  if (state == nullptr) return;
  if (state->born.inherited()) {
    // Its upload is the parent's.
    using kept = std::shared_ptr<detail::shard::shard_writer_state>;
    static_cast<void>(new (std::nothrow) kept(std::move(state)));
    return;
  }
  const std::scoped_lock lock(state->news->mutex);
  state->news->waits.clear();
}

DATAFLUX_INLINE result<void> shard_writer::write(std::string_view key,
                                                 std::span<const sample_field> fields) {
  auto ended = detail::shard::interruptible_writes::write(*this, key, fields, false);
  if (!ended) return std::move(ended).error();
  return {};
}

DATAFLUX_INLINE result<bool> shard_writer::try_write(std::string_view key,
                                                     std::span<const sample_field> fields) {
  return detail::shard::in_turn<bool>(*state_, [&] { return state_->try_write(key, fields); });
}

DATAFLUX_INLINE result<bool> shard_writer::try_end() {
  return detail::shard::in_turn<bool>(*state_, [&] { return state_->try_end(); });
}

DATAFLUX_INLINE void shard_writer::notify(completion_queue& queue, std::uint64_t tag) {
  const detail::turn mine(state_->busy);
  if (auto good = state_->usable(mine); !good) return queue.push({tag, good.error().code()});
  state_->notify(queue, tag);
}

DATAFLUX_INLINE result<shard_writer_summary> shard_writer::finish() {
  auto ended = detail::shard::interruptible_writes::write_end(*this, false);
  if (!ended) return std::move(ended).error();
  return submit_finish().take();
}

DATAFLUX_INLINE operation<shard_writer_summary> shard_writer::submit_finish() {
  call_limits limits{.stop = state_->request.stop};
  return start_operation<shard_writer_summary>(limits, [&](auto done) {
    auto ending = detail::shard::in_turn<detail::shard::shard_ending>(
        *state_, [&] { return state_->last_ending(); });
    if (!ending) return done(std::move(ending).error());
    state_->start_end(*std::move(ending), limits,
                      [resumed = state_->resumed,
                       done = std::move(done)](result<shard_writer_summary> made) mutable {
                        if (made) made->resumed = resumed;
                        done(std::move(made));
                      });
  });
}

DATAFLUX_INLINE operation<void> shard_writer::submit_abort() {
  call_limits limits{};
  return start_operation<void>(limits, [&](auto done) {
    auto ending = detail::shard::in_turn<detail::shard::shard_ending>(
        *state_, [&]() -> result<detail::shard::shard_ending> { return state_->giving_up(); });
    if (!ending) return done(std::move(ending).error());
    state_->start_end(*std::move(ending), limits,
                      [done = std::move(done)](result<shard_writer_summary> outcome) mutable {
                        if (!outcome) return done(std::move(outcome).error());
                        done(result<void>{});
                      });
  });
}

DATAFLUX_INLINE const resumed_shards& shard_writer::resumed() const noexcept {
  return state_->resumed;
}
DATAFLUX_INLINE std::uint64_t shard_writer::samples() const noexcept { return state_->samples; }
DATAFLUX_INLINE std::uint64_t shard_writer::whole_samples() const noexcept {
  return state_->chain->whole_samples;
}
DATAFLUX_INLINE std::uint64_t shard_writer::whole_shards() const noexcept {
  return state_->chain->whole_shards;
}

}  // namespace dataflux::inline DATAFLUX_ABI
