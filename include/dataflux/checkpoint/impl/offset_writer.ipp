#pragma once

#include <dataflux/checkpoint/detail/offset_state.hpp>
#include <dataflux/checkpoint/detail/writer_opening.hpp>
#include <dataflux/checkpoint/offset_writer.hpp>
#include <dataflux/exec/detail/fork.hpp>

#include <new>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE operation<offset_writer> offset_writer::submit_open(const transfer_context& context,
                                                                    upload_request request,
                                                                    std::uint64_t size) {
  call_limits limits{};  // the request's own go on to hold when it is open
  return start_operation<offset_writer>(limits, [&](auto done) {
    open_with(context, std::move(request), size, limits.stop, std::move(done));
  });
}

DATAFLUX_INLINE void offset_writer::start_open(const transfer_context& context,
                                               upload_request request, std::uint64_t size,
                                               object_store::completion<offset_writer> done) {
  open_with(context, std::move(request), size, {}, std::move(done));
}

DATAFLUX_INLINE void offset_writer::open_with(const transfer_context& context,
                                              upload_request request, std::uint64_t size,
                                              const std::stop_token& stop,
                                              object_store::completion<offset_writer> done) {
  request.size_hint = size;
  detail::writer_opening::start<offset_writer>(
      context, std::move(request), stop, std::move(done),
      [size](const transfer_context& with, std::shared_ptr<object_upload> upload) {
        return detail::offset_state::make(with, std::move(upload), size);
      });
}

DATAFLUX_INLINE offset_writer& offset_writer::operator=(offset_writer&& other) noexcept {
  if (this != &other) {
    drop();
    state_ = std::move(other.state_);
  }
  return *this;
}

DATAFLUX_INLINE void offset_writer::drop() noexcept {
  auto state = std::move(state_);
  if (state == nullptr) return;
  if (state->born.inherited()) {
    // Its upload is the parent's.
    static_cast<void>(new (std::nothrow) std::shared_ptr<detail::offset_state>(std::move(state)));
    return;
  }
  state->silence();
  detail::drop_writer(*state);
}

namespace detail {

/// `act`, unless the writer is the parent's.
template <class T, class Act>
result<T> of_this_process(offset_state& state, Act act) {
  if (state.born.inherited()) return forked_error("writer");
  try {
    return act();
  } catch (const std::bad_alloc&) {
    return state.out_of_memory();
  }
}

}  // namespace detail

DATAFLUX_INLINE result<void> offset_writer::write_at(std::uint64_t offset, bytes_view bytes,
                                                     const call_limits& limits) {
  return detail::of_this_process<void>(*state_, [&] {
    return state_->write({offset, bytes.size()}, bytes, limits);
  });
}

DATAFLUX_INLINE result<std::size_t> offset_writer::try_write_at(std::uint64_t offset,
                                                                bytes_view bytes) {
  return detail::of_this_process<std::size_t>(*state_, [&] {
    return state_->try_write({offset, bytes.size()}, bytes);
  });
}

DATAFLUX_INLINE void offset_writer::notify(completion_queue& queue, std::uint64_t tag) {
  const auto state = state_;  // who hears of it may end the writer
  if (state->born.inherited()) return queue.push({tag, errc::failed_precondition});
  state->notify(queue, tag);
}

DATAFLUX_INLINE void offset_writer::start_commit(object_store::completion<committed_object> done,
                                                 const call_limits& limits) {
  const auto state = state_;  // who hears of it may end the writer
  if (state->born.inherited()) return done(forked_error("writer"));
  auto begun = state->finish(limits, done);
  if (!begun) done(std::move(begun).error());
}

DATAFLUX_INLINE operation<committed_object> offset_writer::submit_commit(call_limits limits) {
  return start_operation<committed_object>(
      limits, [&](auto done) { start_commit(std::move(done), limits); });
}

DATAFLUX_INLINE void offset_writer::start_abort(object_store::completion<void> done,
                                                const call_limits& limits) {
  const auto state = state_;  // who hears of it may end the writer
  if (state->born.inherited()) return done(forked_error("writer"));
  state->start_abort(detail::abort_timeout, limits, std::move(done));
}

DATAFLUX_INLINE operation<void> offset_writer::submit_abort(call_limits limits) {
  return start_operation<void>(limits, [&](auto done) { start_abort(std::move(done), limits); });
}

DATAFLUX_INLINE std::uint64_t offset_writer::size() const noexcept { return state_->size; }

DATAFLUX_INLINE std::uint64_t offset_writer::part_size() const noexcept {
  return state_->upload->plan().first_size();
}

DATAFLUX_INLINE std::uint64_t offset_writer::written() const {
  if (state_->born.inherited()) return 0;
  const std::scoped_lock lock(state_->mutex);
  return state_->claimed.bytes();
}

}  // namespace dataflux::inline DATAFLUX_ABI
