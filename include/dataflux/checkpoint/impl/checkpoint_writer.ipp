#pragma once

#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/checkpoint/detail/writer_opening.hpp>
#include <dataflux/checkpoint/detail/writer_state.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/exec/detail/fork.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// The first part's buffer grows to its size, so that a small object takes little memory.
inline constexpr std::size_t first_buffer = std::size_t{1} << 20U;

DATAFLUX_INLINE std::optional<result<void>> writer_state::gate::wait(duration limit) {
  std::unique_lock lock(mutex);
  const auto there = [this] { return answer.has_value(); };
  if (limit == duration::max()) {
    came.wait(lock, there);
  } else if (!came.wait_for(lock, limit, there)) {
    return std::nullopt;
  }
  auto taken = std::move(answer);
  answer.reset();
  return taken;
}

DATAFLUX_INLINE result<void> writer_state::check_open() const {
  if (failure) return *failure;
  if (finished) return writer_ended();
  return {};
}

DATAFLUX_INLINE result<void> writer_state::turn::granted() const {
  if (of_.born.inherited()) return forked_error("writer");
  if (taken_) return {};
  return error(errc::failed_precondition,
               "another thread is inside a member of this writer; one thread at a time uses it");
}

DATAFLUX_INLINE result<void> writer_state::reserve(std::uint64_t bytes) {
  context.strand().post([upload = upload, bytes, answers = answers] {
    upload->reserve(bytes, [answers](result<void> granted) { answers->give(std::move(granted)); });
  });
  auto granted = *answers->wait();
  if (!granted) fail(granted.error());
  return granted;
}

DATAFLUX_INLINE result<void> writer_state::out_of_memory() {
  const error why = fail_for_memory(upload, context.strand());
  fail(why);
  return why;
}

DATAFLUX_INLINE result<void> writer_state::begin_part(std::size_t wanted) {
  if (upload->failed()) {
    if (auto failed = reserve(0); !failed) return failed;
  }
  // Where the store takes no more parts it is the upload that says so.
  const std::uint64_t size = std::max<std::uint64_t>(next_size(), 1);
  if (auto room = reserve(size); !room) return room;
  part_size = size;
  used = 0;
  crc = 0;
  const bool first = written == 0;
  const std::size_t all = static_cast<std::size_t>(part_size);
  grow(first ? std::min(all, std::max(wanted, first_buffer)) : all);
  return {};
}

DATAFLUX_INLINE void writer_state::grow(std::size_t wanted) {
  if (memory.capacity() >= wanted) return;
  buffer larger = context.state()->uploads.buffers.acquire(wanted);
  if (used > 0) std::memcpy(larger.data(), memory.data(), used);
  memory = std::move(larger);
}

DATAFLUX_INLINE void writer_state::append(bytes_view bytes) noexcept {
  while (!bytes.empty()) {
    const bytes_view some = bytes.first(std::min(bytes.size(), copied_at_once));
    std::memcpy(memory.data() + used, some.data(), some.size());
    crc = codec::crc32c_extend(crc, {memory.data() + used, some.size()});
    used += some.size();
    bytes = bytes.subspan(some.size());
  }
}

DATAFLUX_INLINE upload_piece writer_state::take_piece() {
  const bytes_view bytes{memory.data(), used};
  upload_piece piece{bytes, crc, part_size, [owner = std::move(memory)]() mutable { owner = {}; }};
  part_size = 0;
  used = 0;
  return piece;
}

DATAFLUX_INLINE void writer_state::send(upload_piece piece) {
  ++parts;
  context.strand().post(
      [upload = upload, piece = std::move(piece)]() mutable { upload->send(std::move(piece)); });
}

DATAFLUX_INLINE result<void> writer_state::write(bytes_view bytes) {
  while (!bytes.empty()) {
    if (part_size == 0) {
      if (auto begun = begin_part(bytes.size()); !begun) return begun;
    }
    const std::size_t room = static_cast<std::size_t>(part_size) - used;
    const std::size_t some = std::min(room, bytes.size());
    if (used + some > memory.capacity()) {
      grow(std::min(static_cast<std::size_t>(part_size), std::max(used + some, used * 4)));
    }
    append(bytes.first(some));
    written += some;
    bytes = bytes.subspan(some);
    if (used == part_size) send(take_piece());
  }
  return {};
}

/// Parts of the planned size, and one of half of that or more; so the store's number of parts
/// reaches at least half as far as planned.
DATAFLUX_INLINE result<void> writer_state::write_borrowed(bytes_view bytes,
                                                          const std::shared_ptr<void>& released) {
  const auto half = [this] {
    const std::uint64_t planned = part_size != 0 ? part_size : next_size();
    const std::uint64_t least = context.store().traits().min_part_size;
    return static_cast<std::size_t>(
        std::max((planned / 2 + part_quantum - 1) / part_quantum * part_quantum, least));
  };
  if (part_size != 0 && used > 0 && bytes.size() >= half()) {
    // What was copied before goes first, as a part of its own.
    std::size_t goal = std::max(used, half());
    goal = static_cast<std::size_t>((goal + part_quantum - 1) / part_quantum * part_quantum);
    goal = std::min(goal, static_cast<std::size_t>(part_size));
    const std::size_t some = std::min(goal - used, bytes.size());
    if (auto good = write(bytes.first(some)); !good) return good;
    bytes = bytes.subspan(some);
    if (part_size != 0) send(take_piece());
  }
  while (bytes.size() >= half()) {
    const auto planned = static_cast<std::size_t>(next_size());
    const std::size_t size =
        bytes.size() >= planned
            ? planned
            : static_cast<std::size_t>(bytes.size() / part_quantum * part_quantum);
    if (auto good = send_borrowed(bytes.first(size), released); !good) return good;
    bytes = bytes.subspan(size);
  }
  return write(bytes);
}

DATAFLUX_INLINE result<void> writer_state::send_borrowed(bytes_view bytes,
                                                         const std::shared_ptr<void>& released) {
  if (auto room = reserve(bytes.size()); !room) return room;
  written += bytes.size();
  send({bytes, codec::crc32c(bytes), bytes.size(), [released] {}});
  return {};
}

DATAFLUX_INLINE void writer_state::finish(object_store::completion<committed_object> done) {
  finished = true;
  std::optional<upload_piece> last;
  if (part_size != 0) last = take_piece();
  context.strand().post(
      [upload = upload, last = std::move(last), done = std::move(done)]() mutable {
        upload->finish(std::move(last), std::move(done));
      });
}

DATAFLUX_INLINE void writer_state::start_abort(duration timeout,
                                               object_store::completion<void> done) {
  finished = true;
  memory = {};
  context.strand().post([upload = upload, timeout, done = std::move(done)]() mutable {
    upload->abort(timeout, std::move(done));
  });
}

DATAFLUX_INLINE result<void> writer_state::abort(duration timeout, duration limit) {
  start_abort(timeout, [answers = answers](result<void> done) { answers->give(std::move(done)); });
  auto ended = answers->wait(limit);
  return ended ? std::move(*ended) : result<void>();
}

}  // namespace detail

DATAFLUX_INLINE operation<checkpoint_writer> checkpoint_writer::submit_open(
    const transfer_context& context, upload_request request) {
  call_limits limits{};  // the request's own go on to hold when it is open
  return start_operation<checkpoint_writer>(limits, [&](auto done) {
    detail::writer_opening::start<checkpoint_writer>(context, std::move(request), limits.stop,
                                                     std::move(done), &detail::writer_state::make);
  });
}

DATAFLUX_INLINE void checkpoint_writer::start_open(
    const transfer_context& context, upload_request request,
    object_store::completion<checkpoint_writer> done) {
  detail::writer_opening::start<checkpoint_writer>(context, std::move(request), {}, std::move(done),
                                                   &detail::writer_state::make);
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
  if (state->finished) return;
  static_cast<void>(state->abort(detail::destructor_timeout, detail::destructor_timeout));
}

DATAFLUX_INLINE result<void> checkpoint_writer::write(bytes_view bytes) {
  const detail::writer_state::turn mine(*state_);
  if (auto good = mine.granted(); !good) return good;
  if (auto good = state_->check_open(); !good) return good;
  try {
    return state_->write(bytes);
  } catch (const std::bad_alloc&) {
    return state_->out_of_memory();
  }
}

DATAFLUX_INLINE result<void> checkpoint_writer::write_borrowed(bytes_view bytes,
                                                               unique_function<void()> released) {
  const auto borrowed = std::make_shared<detail::lending>(std::move(released));
  const detail::writer_state::turn mine(*state_);
  if (auto good = mine.granted(); !good) return good;
  if (auto good = state_->check_open(); !good) return good;
  try {
    return state_->write_borrowed(bytes, borrowed);
  } catch (const std::bad_alloc&) {
    return state_->out_of_memory();
  }
}

DATAFLUX_INLINE operation<committed_object> checkpoint_writer::submit_commit() {
  call_limits limits{};
  return start_operation<committed_object>(
      limits, [&](auto done) { commit_with(limits.stop, std::move(done)); });
}

DATAFLUX_INLINE void checkpoint_writer::start_commit(
    object_store::completion<committed_object> done) {
  commit_with({}, std::move(done));
}

DATAFLUX_INLINE void checkpoint_writer::commit_with(
    const std::stop_token& stop, object_store::completion<committed_object> done) {
  // What a part has failed with is said when all is cleaned up.
  const detail::writer_state::turn mine(*state_);
  if (auto good = mine.granted(); !good) return done(std::move(good).error());
  auto good = state_->check_open();
  if (!good && !state_->failure) return done(std::move(good).error());
  if (state_->finished) return done(*state_->failure);
  state_->finish(
      detail::stopped_by(stop, state_->upload, state_->context.strand(), std::move(done)));
}

DATAFLUX_INLINE result<committed_object> checkpoint_writer::commit() {
  return submit_commit().take();
}

DATAFLUX_INLINE void checkpoint_writer::start_abort(object_store::completion<void> done) {
  const detail::writer_state::turn mine(*state_);
  if (auto good = mine.granted(); !good) return done(std::move(good));
  if (state_->finished) return done({});
  state_->start_abort(detail::abort_timeout, std::move(done));
}

DATAFLUX_INLINE operation<void> checkpoint_writer::submit_abort() {
  call_limits limits{};
  return start_operation<void>(limits, [&](auto done) { start_abort(std::move(done)); });
}

DATAFLUX_INLINE result<void> checkpoint_writer::abort() { return submit_abort().take(); }

}  // namespace dataflux::inline DATAFLUX_ABI
