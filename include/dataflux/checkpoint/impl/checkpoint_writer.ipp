#pragma once

#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/checkpoint/detail/writer_state.hpp>
#include <dataflux/checkpoint/impl/writer_state.ipp>

#include <new>
#include <utility>

/// A checkpoint_writer is the face of an object_upload for one thread. It fills a part's buffer,
/// sends it, and asks for the memory of the next one (try_write). What the strand answers lies in
/// writer_room, which rings its bells; write() tries and waits in turns. A call's own limits
/// arrive as a task of the strand (limit_watch).
///
/// The upload: stat the target, for the precondition; pieces with their CRC32C; commit or abort.
/// upload_machine decides each step, and object_upload carries it out. One piece is a plain insert.
/// More are parts of a temporary object that is compared and then moved; where temporary objects
/// may not be moved or removed the upload is direct, and else resumable.
///
/// Tests: object_upload_test fails every verb at every step in simulated time; the integration
/// test runs the emulator's faults against every request; tests/cli/killed.py kills processes.
namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE operation<checkpoint_writer> checkpoint_writer::submit_open(
    const transfer_context& context, upload_request request) {
  call_limits limits{};  // the request's own go on to hold when it is open
  return start_operation<checkpoint_writer>(limits, [&](auto done) {
    open_with(context, std::move(request), limits.stop, std::move(done));
  });
}

DATAFLUX_INLINE void checkpoint_writer::start_open(
    const transfer_context& context, upload_request request,
    object_store::completion<checkpoint_writer> done) {
  open_with(context, std::move(request), {}, std::move(done));
}

DATAFLUX_INLINE void checkpoint_writer::open_with(
    const transfer_context& context, upload_request request, const std::stop_token& stop,
    object_store::completion<checkpoint_writer> done) {
  if (auto good = context.store().check_not_forked(request.bucket, request.object); !good) {
    return done(std::move(good).error());
  }
  auto upload = std::make_shared<detail::object_upload>(context, std::move(request));
  object_store::completion<void> opened = [context, upload,
                                           done = std::move(done)](result<void> outcome) mutable {
    if (!outcome) return done(std::move(outcome).error());
    std::shared_ptr<detail::writer_state> state;
    if (!detail::within_memory([&] { state = detail::writer_state::make(context, upload); })) {
      upload->abort(detail::abort_timeout, [](const result<void>&) {});
      return done(detail::short_of_memory());
    }
    done(checkpoint_writer(std::move(state)));
  };
  opened = detail::limited_by<void>({.stop = stop}, upload, context.strand(), opened);
  context.strand().post([upload, opened = std::move(opened)]() mutable {
    upload->open(detail::upload_memory::source::producer, std::move(opened));
  });
}

DATAFLUX_INLINE checkpoint_writer& checkpoint_writer::operator=(
    checkpoint_writer&& other) noexcept {
  if (this != &other) {
    drop();
    state_ = std::move(other.state_);
  }
  return *this;
}

DATAFLUX_INLINE std::uint64_t checkpoint_writer::written() const noexcept {
  return state_->written;
}

DATAFLUX_INLINE void checkpoint_writer::drop() noexcept {
  auto state = std::move(state_);
  if (state == nullptr) return;
  if (state->born.inherited()) {
    // Its upload is the parent's.
    static_cast<void>(new (std::nothrow) std::shared_ptr<detail::writer_state>(std::move(state)));
    return;
  }
  {
    const std::scoped_lock lock(state->room->mutex);
    state->room->news.clear();
  }
  if (state->finished) return;
  static_cast<void>(state->end(true));
  state->drop();
}

namespace detail {

/// `act`, within the caller's turn, if the writer is open.
template <class T, class Act>
result<T> in_turn(writer_state& state, Act act) {
  const turn mine(state.busy);
  if (auto good = state.granted(mine); !good) return std::move(good).error();
  if (auto good = state.check_open(); !good) return std::move(good).error();
  try {
    return act();
  } catch (const std::bad_alloc&) {
    return state.ended_without("more memory");
  }
}

DATAFLUX_INLINE result<write_end> interruptible::write(writer_state& state, bytes_view bytes,
                                                       const call_limits& limits,
                                                       bool until_signal) {
  return in_turn<write_end>(state, [&] {
    return state.write(bytes, limits, until_signal,
                       [&state](bytes_view rest) { return state.try_write(rest); });
  });
}

DATAFLUX_INLINE result<write_end> interruptible::write_borrowed(writer_state& state,
                                                                bytes_view bytes,
                                                                unique_function<void()> released,
                                                                const call_limits& limits,
                                                                bool until_signal) {
  const auto borrowed = std::make_shared<lending>(std::move(released));
  return in_turn<write_end>(state, [&] {
    return state.write(bytes, limits, until_signal,
                       [&](bytes_view rest) { return state.try_write_borrowed(rest, borrowed); });
  });
}

DATAFLUX_INLINE result<write_end> interruptible::write(checkpoint_writer& writer, bytes_view bytes,
                                                       const call_limits& limits) {
  return write(*writer.state_, bytes, limits, true);
}

DATAFLUX_INLINE result<write_end> interruptible::write_borrowed(checkpoint_writer& writer,
                                                                bytes_view bytes,
                                                                unique_function<void()> released,
                                                                const call_limits& limits) {
  return write_borrowed(*writer.state_, bytes, std::move(released), limits, true);
}

DATAFLUX_INLINE void interruptible::ring(const checkpoint_writer& writer) {
  writer_room& room = *writer.state_->room;
  const std::scoped_lock lock(room.mutex);
  room.news.ring();
}

}  // namespace detail

DATAFLUX_INLINE result<std::size_t> checkpoint_writer::try_write(bytes_view bytes) {
  return detail::in_turn<std::size_t>(*state_, [&] { return state_->try_write(bytes); });
}

DATAFLUX_INLINE result<void> checkpoint_writer::write(bytes_view bytes, const call_limits& limits) {
  auto ended = detail::interruptible::write(*state_, bytes, limits, false);
  if (!ended) return std::move(ended).error();
  return {};
}

DATAFLUX_INLINE result<std::size_t> checkpoint_writer::try_write_borrowed(
    bytes_view bytes, unique_function<void()> released) {
  const auto borrowed = std::make_shared<detail::lending>(std::move(released));
  bool took = false;
  auto some = detail::in_turn<std::size_t>(*state_, [&] {
    const std::uint64_t before = state_->written;
    took = true;  // as far as is known, should memory run out
    auto outcome = state_->try_write_borrowed(bytes, borrowed);
    took = state_->written != before;
    return outcome;
  });
  if (!took) borrowed->released = {};
  return some;
}

DATAFLUX_INLINE result<void> checkpoint_writer::write_borrowed(bytes_view bytes,
                                                               unique_function<void()> released,
                                                               const call_limits& limits) {
  auto ended =
      detail::interruptible::write_borrowed(*state_, bytes, std::move(released), limits, false);
  if (!ended) return std::move(ended).error();
  return {};
}

DATAFLUX_INLINE void checkpoint_writer::notify(completion_queue& queue, std::uint64_t tag) {
  const auto state = state_;  // who hears of it may end the writer
  bool now = false;
  {
    const detail::turn mine(state->busy);
    if (!state->granted(mine)) return queue.push({tag, errc::failed_precondition});
    now = state->has_room();
  }
  state->room->tell(queue, tag, now);
}

DATAFLUX_INLINE void checkpoint_writer::start_commit(
    object_store::completion<committed_object> done, const call_limits& limits) {
  // What a part has failed with is said when all is cleaned up.
  const auto state = state_;  // `done` may end the writer
  result<std::optional<detail::upload_piece>> last(std::nullopt);
  {
    const detail::turn mine(state->busy);
    if (auto good = state->granted(mine); !good) {
      last = std::move(good).error();
    } else if (state->finished) {
      last = state->check_open().error();
    } else {
      last = state->end(false);
    }
  }
  if (!last) return done(std::move(last).error());
  detail::taken_back_unless_kept ends([&] { state->end_lost(); });
  state->finish(*std::move(last), limits, std::move(done));
  ends.kept();
}

DATAFLUX_INLINE operation<committed_object> checkpoint_writer::submit_commit(call_limits limits) {
  return start_operation<committed_object>(
      limits, [&](auto done) { start_commit(std::move(done), limits); });
}

DATAFLUX_INLINE result<committed_object> checkpoint_writer::commit(call_limits limits) {
  return submit_commit(std::move(limits)).take();
}

DATAFLUX_INLINE void checkpoint_writer::start_abort(object_store::completion<void> done,
                                                    const call_limits& limits) {
  const auto state = state_;  // `done` may end the writer
  result<void> good;
  bool ended = false;
  {
    const detail::turn mine(state->busy);
    good = state->granted(mine);
    ended = !good || state->finished;
    if (!ended) static_cast<void>(state->end(true));
  }
  if (ended) return done(std::move(good));
  detail::taken_back_unless_kept ends([&] { state->end_lost(); });
  state->start_abort(detail::abort_timeout, limits, std::move(done));
  ends.kept();
}

DATAFLUX_INLINE operation<void> checkpoint_writer::submit_abort(call_limits limits) {
  return start_operation<void>(limits, [&](auto done) { start_abort(std::move(done), limits); });
}

DATAFLUX_INLINE result<void> checkpoint_writer::abort(call_limits limits) {
  return submit_abort(std::move(limits)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI
