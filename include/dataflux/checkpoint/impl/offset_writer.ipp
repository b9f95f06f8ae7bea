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
        return std::make_shared<detail::offset_state>(with, std::move(upload), size);
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
  const auto ended = std::make_shared<detail::offset_state::gate>();
  state->start_abort(detail::destructor_timeout,
                     [ended](result<void> outcome) { ended->give(std::move(outcome)); });
  static_cast<void>(ended->wait(detail::destructor_timeout));
}

DATAFLUX_INLINE result<void> offset_writer::write_at(std::uint64_t offset, bytes_view bytes) {
  if (state_->born.inherited()) return forked_error("writer");
  try {
    return state_->write({offset, bytes.size()}, bytes);
  } catch (const std::bad_alloc&) {
    return state_->out_of_memory();
  }
}

DATAFLUX_INLINE operation<committed_object> offset_writer::submit_commit() {
  call_limits limits{};
  return start_operation<committed_object>(
      limits, [&](auto done) { commit_with(limits.stop, std::move(done)); });
}

DATAFLUX_INLINE void offset_writer::start_commit(object_store::completion<committed_object> done) {
  commit_with({}, std::move(done));
}

DATAFLUX_INLINE void offset_writer::commit_with(const std::stop_token& stop,
                                                object_store::completion<committed_object> done) {
  if (state_->born.inherited()) return done(forked_error("writer"));
  auto end = detail::stopped_by(stop, state_->upload, state_->context.strand(), std::move(done));
  auto begun = state_->finish(end);
  if (!begun) end(std::move(begun).error());
}

DATAFLUX_INLINE operation<void> offset_writer::submit_abort() {
  call_limits limits{};
  return start_operation<void>(limits, [&](auto done) { start_abort(std::move(done)); });
}

DATAFLUX_INLINE void offset_writer::start_abort(object_store::completion<void> done) {
  if (state_->born.inherited()) return done(forked_error("writer"));
  state_->start_abort(detail::abort_timeout, std::move(done));
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
