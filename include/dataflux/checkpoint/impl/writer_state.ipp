#pragma once

#include <dataflux/checkpoint/detail/limited_call.hpp>
#include <dataflux/checkpoint/detail/writer_state.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/exec/detail/call_clock.hpp>
#include <dataflux/exec/detail/fork.hpp>
#include <dataflux/exec/detail/limit_watch.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <future>
#include <system_error>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What is copied is checksummed while it is in the second-level cache.
inline constexpr std::size_t copied_at_once = std::size_t{64} << 10U;
/// For the destructor, and each request of its cleaning up.
inline constexpr duration destructor_timeout = std::chrono::seconds(5);
inline constexpr duration abort_timeout = std::chrono::seconds(60);
/// The first part's buffer grows to its size, so that a small object takes little memory.
inline constexpr std::size_t first_buffer = std::size_t{1} << 20U;

DATAFLUX_INLINE void writer_room::answer(std::uint64_t bytes, bool had) {
  const std::scoped_lock lock(mutex);
  asked = false;
  if (had) granted = bytes;
  waits.ring();
  news.ring();
}

DATAFLUX_INLINE void writer_room::fail(const error& why) {
  const std::scoped_lock lock(mutex);
  if (aborted) return;
  failure = why;
  broken = true;
  waits.ring();
  news.ring();
}

DATAFLUX_INLINE std::optional<error> writer_room::failed() {
  const std::scoped_lock lock(mutex);
  return failure;
}

DATAFLUX_INLINE std::uint64_t writer_room::unused() {
  const std::scoped_lock lock(mutex);
  return std::exchange(granted, 0);
}

DATAFLUX_INLINE void writer_room::close(bool by_abort) {
  const std::scoped_lock lock(mutex);
  aborted = by_abort;
  news.ring();
}

/// What it waits for stays asked for when it gives up.
class writer_state::patience {
 public:
  patience(writer_state& of, const call_limits& limits)
      : of_(of), room_(of.room), clock_(of.context.strand(), limits), stop_(limits.stop) {}
  patience(const patience&) = delete;
  patience& operator=(const patience&) = delete;
  ~patience() {
    if (over_ == nullptr) return;  // it did not wait
    if (watch_ != nullptr) watch_->end();
    const std::scoped_lock lock(room_->mutex);
    room_->waits.clear();
  }
  /// Until the upload has answered, or failed, or a signal came.
  result<completion_queue::wait_end> wait() {
    using end = completion_queue::wait_end;
    if (auto good = listen(); !good) return std::move(good).error();
    for (;;) {
      {
        const std::scoped_lock lock(room_->mutex);
        if (room_->failure) return *room_->failure;
        if (!room_->asked) return end::ready;
        if (*over_) return **over_;
        if (room_->waits.empty()) room_->waits.add(*of_.bell, 0);
      }
      if (of_.bell->wait(duration::max()) == end::interrupted) return end::interrupted;
      std::array<completion_event, 1> rung{};
      of_.bell->next(rung, {});
    }
  }

 private:
  result<void> listen() {
    if (over_ != nullptr) return {};
    if (!of_.bell) {
      try {
        of_.bell.emplace();
      } catch (const std::system_error&) {
        return of_.ended_without("a descriptor to wait by");
      }
    }
    over_ = std::make_shared<std::optional<error>>();
    watch_ = limit_watch::begin(clock_.strand(), clock_.limits(stop_),
                                [upload = of_.upload, room = room_, over = over_](error why) {
                                  upload->name_store(why);
                                  const std::scoped_lock lock(room->mutex);
                                  *over = std::move(why);
                                  room->waits.ring();
                                });
    return {};
  }

  writer_state& of_;
  const std::shared_ptr<writer_room> room_;
  const call_clock clock_;
  const std::stop_token stop_;
  std::shared_ptr<std::optional<error>> over_{};  ///< under the room's lock
  std::shared_ptr<limit_watch> watch_{};
};

DATAFLUX_INLINE result<void> writer_state::check_open() const {
  if (room->broken) {
    const std::scoped_lock lock(room->mutex);
    return *room->failure;
  }
  if (finished) return error(errc::failed_precondition, "the writer has been committed or aborted");
  return {};
}

DATAFLUX_INLINE result<void> writer_state::granted(const turn& mine) const {
  if (born.inherited()) return forked_error("writer");
  return mine.granted();
}

/// What was granted for a piece that was not made, and is too little for this one, goes back.
DATAFLUX_INLINE result<bool> writer_state::try_reserve(std::uint64_t bytes) {
  std::unique_lock lock(room->mutex);
  if (room->failure) return *room->failure;
  if (room->asked || room->granted >= bytes) return !room->asked;
  room->asked = true;
  const std::uint64_t back = std::exchange(room->granted, 0);
  lock.unlock();
  taken_back_unless_kept asks([&] { room->answer(back, true); });
  context.strand().post([upload = upload, room = room, bytes, back] {
    upload->unreserve(back);
    const auto ask = [&] {
      upload->reserve(bytes, [room, bytes](const result<void>& granted) {
        room->answer(bytes, granted.has_value());
      });
    };
    within_memory(ask, [&] {
      upload->fail(short_of_memory());
      room->answer(bytes, false);
    });
  });
  asks.kept();
  return false;
}

DATAFLUX_INLINE void writer_state::use(std::uint64_t bytes) {
  std::unique_lock lock(room->mutex);
  const std::uint64_t back = std::exchange(room->granted, 0) - bytes;
  lock.unlock();
  give_back(back);
}

DATAFLUX_INLINE void writer_state::give_back(std::uint64_t bytes) {
  if (bytes == 0) return;
  context.strand().post([upload = upload, bytes] { upload->unreserve(bytes); });
}

DATAFLUX_INLINE error writer_state::ended_without(const char* what) {
  error why = short_of_memory();
  within_memory([&] {
    why = error(errc::resource_exhausted, std::string("the write cannot go on without ") + what);
    context.strand().post([upload = upload, why] { upload->fail(why); });
  });
  room->fail(why);
  return why;
}

DATAFLUX_INLINE result<bool> writer_state::try_begin_part(std::size_t wanted) {
  const std::uint64_t size = next_size();
  if (auto held = try_reserve(size); !held || !*held) return held;
  use(size);
  part_size = size;
  used = 0;
  crc = 0;
  // Between lent bytes little is copied; and many objects are small.
  const bool little = written == 0 || lent;
  const std::size_t all = static_cast<std::size_t>(part_size);
  grow(little ? std::min(all, std::max(wanted, first_buffer)) : all);
  return true;
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
    crc = crc32c_extend(crc, {memory.data() + used, some.size()});
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

DATAFLUX_INLINE result<std::size_t> writer_state::try_write(bytes_view bytes) {
  std::size_t all = 0;
  while (all < bytes.size()) {
    if (part_size == 0) {
      auto begun = try_begin_part(bytes.size() - all);
      if (!begun) return std::move(begun).error();
      if (!*begun) break;
    }
    const std::size_t room_left = static_cast<std::size_t>(part_size) - used;
    const std::size_t some = std::min(room_left, bytes.size() - all);
    if (used + some > memory.capacity()) {
      grow(std::min(static_cast<std::size_t>(part_size), std::max(used + some, used * 4)));
    }
    append(bytes.subspan(all, some));
    written += some;
    all += some;
    if (used == part_size) send(take_piece());
  }
  return all;
}

/// Parts of the planned size, and one of half of that or more; so the store's number of parts
/// reaches at least half as far as planned.
DATAFLUX_INLINE result<std::size_t> writer_state::try_write_borrowed(
    bytes_view bytes, const std::shared_ptr<void>& released) {
  const auto half = [this] {
    const std::uint64_t planned = part_size != 0 ? part_size : next_size();
    const std::uint64_t least = context.store().traits().min_part_size;
    return static_cast<std::size_t>(
        std::max((planned / 2 + part_quantum - 1) / part_quantum * part_quantum, least));
  };
  std::size_t all = 0;
  lent = true;
  if (part_size != 0 && used > 0 && bytes.size() >= half()) {
    // What was copied before goes first, as a part of its own.
    std::size_t goal = std::max(used, half());
    goal = static_cast<std::size_t>((goal + part_quantum - 1) / part_quantum * part_quantum);
    goal = std::min(goal, static_cast<std::size_t>(part_size));
    all = std::min(goal - used, bytes.size());
    if (auto copied = try_write(bytes.first(all)); !copied) return copied;
    if (part_size != 0) {
      const std::uint64_t held = std::max(used, memory.capacity());
      if (held < part_size) give_back(std::exchange(part_size, held) - held);
      send(take_piece());
    }
  }
  while (bytes.size() - all >= half()) {
    const std::size_t rest = bytes.size() - all;
    const auto planned = static_cast<std::size_t>(next_size());
    const std::size_t size =
        rest >= planned ? planned : static_cast<std::size_t>(rest / part_quantum * part_quantum);
    auto held = try_reserve(size);
    if (!held) return std::move(held).error();
    if (!*held) return all;
    use(size);
    const bytes_view some = bytes.subspan(all, size);
    written += size;
    all += size;
    send({some, crc32c(some), size, [released] {}});
  }
  auto copied = try_write(bytes.subspan(all));
  if (!copied) return copied;
  return all + *copied;
}

template <class Try>
result<write_end> writer_state::write(bytes_view bytes, const call_limits& limits,
                                      bool until_signal, Try some_of) {
  if (limits.stop.stop_requested()) return error(errc::cancelled, "the caller asked to stop");
  patience waiting(*this, limits);
  for (;;) {
    auto some = some_of(bytes);
    if (!some) return std::move(some).error();
    bytes = bytes.subspan(*some);
    if (bytes.empty()) return write_end::all;
    auto waited = waiting.wait();
    if (!waited) return std::move(waited).error();
    if (until_signal && *waited == completion_queue::wait_end::interrupted) {
      return write_end::interrupted;
    }
  }
}

DATAFLUX_INLINE void writer_room::tell(completion_queue& queue, std::uint64_t tag, bool now) {
  const std::scoped_lock lock(mutex);
  news.add(queue, tag);
  if (now || !asked || failure) news.ring();
}

DATAFLUX_INLINE bool writer_state::has_room() {
  if (!check_open() || part_size != 0) return true;
  const auto held = try_reserve(next_size());
  return !held || *held;
}

DATAFLUX_INLINE std::optional<upload_piece> writer_state::end(bool by_abort) {
  finished = true;
  std::optional<upload_piece> last;
  if (part_size != 0 && !by_abort) last = take_piece();
  if (by_abort) memory = {};
  return last;
}

DATAFLUX_INLINE void writer_state::end_lost() noexcept {
  room->close(false);
  room->fail(short_of_memory());
  finished = false;
}

DATAFLUX_INLINE void writer_state::finish(std::optional<upload_piece> last,
                                          const call_limits& limits,
                                          object_store::completion<committed_object> done) {
  room->close(false);
  context.strand().post([upload = upload, room = room, limits, at = &context.strand(),
                         last = std::move(last), done = std::move(done)]() mutable {
    upload->unreserve(room->unused());
    // What a piece that was lost on its way has failed with.
    if (auto why = room->failed()) upload->fail(*std::move(why));
    within_memory([&] { done = limited_by(limits, upload, *at, done); },
                  [&] { upload->fail(short_of_memory()); });
    upload->finish(std::move(last), std::move(done));
  });
}

DATAFLUX_INLINE void writer_state::start_abort(duration timeout, const call_limits& limits,
                                               object_store::completion<void> done) {
  room->close(true);
  context.strand().post(
      [upload = upload, timeout, limits, at = &context.strand(), done = std::move(done)]() mutable {
        // Without memory for the limits it waits for the end of the cleaning up.
        within_memory([&] { done = no_longer_than(limits, upload, *at, done); });
        upload->abort(timeout, std::move(done));
      });
}

DATAFLUX_INLINE void writer_state::drop() noexcept {
  const auto wait = [this] {
    const auto told = std::make_shared<std::promise<void>>();
    const auto over = told->get_future();
    start_abort(destructor_timeout, {}, [told](const result<void>&) { told->set_value(); });
    if (!context.strand().is_current()) static_cast<void>(over.wait_for(destructor_timeout));
  };
  within_memory(wait, [this] {
    context.strand().post(
        [upload = upload] { upload->abort(destructor_timeout, [](const result<void>&) {}); });
  });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
