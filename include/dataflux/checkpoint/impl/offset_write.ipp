#pragma once

#include <dataflux/checkpoint/detail/offset_state.hpp>
#include <dataflux/checkpoint/detail/writer_state.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/exec/detail/limit_watch.hpp>

#include <algorithm>
#include <utility>

/// How an offset_writer writes: one call.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// Begins with the lock held, and may end with it.
class offset_state::write_call {
 public:
  write_call(offset_state& of, lock_type& lock, const call_limits& limits) : of_(of), lock_(lock) {
    if (limits.timeout > duration{0} || limits.stop.stop_possible()) listen(limits);
    ++of.inside;
  }
  write_call(const write_call&) = delete;
  write_call& operator=(const write_call&) = delete;
  /// Its bytes are let go by then, whatever that takes.
  ~write_call() {
    if (watch_ != nullptr) watch_->end();
    if (!lock_.owns_lock()) lock_.lock();
    of_.changed.wait(lock_, [this] { return pieces_ == 0; });
    if (--of_.inside == 0 && of_.finished) of_.drop_buffers();
    of_.changed.notify_all();
    lock_.unlock();
  }
  void given() {
    const std::scoped_lock lock(of_.mutex);
    ++pieces_;
  }
  void let_go() {
    const std::scoped_lock lock(of_.mutex);
    --pieces_;
    of_.changed.notify_all();
  }
  /// Within the lock, which it holds again afterwards; until `there` says so, or the limits pass.
  template <class There>
  result<void> wait(There there) {
    of_.changed.wait(lock_, [&] { return there() || (over_ != nullptr && over_->has_value()); });
    if (there()) return {};
    return **over_;
  }
  result<void> wait_until_let_go() {
    return wait([this] { return pieces_ == 0; });
  }
  lock_type& lock() noexcept { return lock_; }

 private:
  void listen(const call_limits& limits) {
    over_ = std::make_shared<std::optional<error>>();
    watch_ = limit_watch::begin(of_.context.strand(), limits,
                                [state = of_.shared_from_this(), over = over_](error why) {
                                  const std::scoped_lock within(state->mutex);
                                  *over = std::move(why);
                                  state->changed.notify_all();
                                });
  }

  offset_state& of_;
  lock_type& lock_;
  std::size_t pieces_{0};
  std::shared_ptr<std::optional<error>> over_{};  ///< under the lock
  std::shared_ptr<limit_watch> watch_{};
};

DATAFLUX_INLINE result<void> offset_state::open_ends(byte_extent range, write_call& call) {
  const std::uint64_t end = range.offset + range.length;
  const std::size_t ends[] = {part_at(range.offset), part_at(end - 1)};
  refusal asked;
  for (;;) {
    if (auto good = going_on(); !good) return good;
    if (auto good = refuse_overlap(range); !good) return good;
    std::vector<std::size_t> missing;
    bool others = false;
    for (const std::size_t i : ends) {
      const part& each = parts[i];
      const bool whole = range.offset <= each.begin && each.begin + each.size <= end;
      others = others || each.at == phase::opening;
      if (each.at != phase::untouched || (whole && !single())) continue;
      if (missing.empty() || missing.back() != i) missing.push_back(i);
    }
    if (!others) {
      if (missing.empty()) return {};
      // Of an answer to somebody else nothing is known about this one.
      if (asked != nullptr && asked->has_value()) return **asked;
      asked = std::make_shared<std::optional<error>>();
      begin_parts(std::move(missing), asked);
    }
    const auto answered = [&] {
      return parts[ends[0]].at != phase::opening && parts[ends[1]].at != phase::opening;
    };
    if (auto good = call.wait([&] { return failure || finished || answered(); }); !good)
      return good;
  }
}

DATAFLUX_INLINE result<void> offset_state::send_borrowed(std::size_t index, bytes_view bytes,
                                                         write_call& call) {
  struct ask {
    std::optional<result<void>> answer{};
    bool left{false};
  };
  const auto asked = std::make_shared<ask>();
  const auto told = [self = shared_from_this(), asked, count = bytes.size()](result<void> granted) {
    std::unique_lock lock(self->mutex);
    if (asked->left) {
      lock.unlock();
      if (granted) self->upload->unreserve(count);
      return;
    }
    asked->answer.emplace(std::move(granted));
    self->changed.notify_all();
  };
  context.strand().post([self = shared_from_this(), told, count = bytes.size()] {
    within_memory([&] { self->upload->reserve(count, told); },
                  [&] {
                    self->lose();
                    told(short_of_memory());
                  });
  });
  call.lock().lock();
  auto answered = call.wait([&asked] { return asked->answer.has_value(); });
  asked->left = !answered;
  call.lock().unlock();
  if (!answered) return answered;
  if (!*asked->answer) return std::move(*asked->answer);
  // Told by its end, so that a piece that never gets to the upload is let go, too.
  const auto borrowed = std::make_shared<lending>(unique_function<void()>{});
  upload_piece piece{.bytes = bytes,
                     .crc32c = codec::crc32c(bytes),
                     .reserved = bytes.size(),
                     .release = [borrowed] {},
                     .number = static_cast<std::uint32_t>(index + 1)};
  call.given();
  borrowed->released = [&call] { call.let_go(); };
  send(std::move(piece));
  return {};
}

DATAFLUX_INLINE result<void> offset_state::write_parts(byte_extent range, bytes_view bytes,
                                                       write_call& call) {
  const auto borrowed = claim(range);
  call.lock().unlock();
  const std::uint64_t end = range.offset + range.length;
  std::size_t index = part_at(range.offset);
  for (std::uint64_t at = range.offset; at < end; ++index) {
    const std::uint64_t until = std::min(end, parts[index].begin + parts[index].size);
    const bytes_view some = bytes.subspan(static_cast<std::size_t>(at - range.offset),
                                          static_cast<std::size_t>(until - at));
    if (!std::binary_search(borrowed.begin(), borrowed.end(), index)) {
      copy(index, {at, some.size()}, some);
    } else if (auto good = send_borrowed(index, some, call); !good) {
      call.lock().lock();
      if (at > range.offset || upload->failed()) return good;
      unclaim(range, borrowed);
      return good;
    }
    at = until;
  }
  call.lock().lock();
  return call.wait_until_let_go();
}

DATAFLUX_INLINE result<void> offset_state::write(byte_extent range, bytes_view bytes,
                                                 const call_limits& limits) {
  if (limits.stop.stop_requested()) return error(errc::cancelled, "the caller asked to stop");
  lock_type lock(mutex);
  if (auto good = check(range); !good || bytes.empty()) return good;
  write_call call(*this, lock, limits);
  if (auto good = open_ends(range, call); !good) return good;
  auto wrote = write_parts(range, bytes, call);
  // What is claimed and will not be sent is a hole that nobody can fill.
  if (upload->failed()) return going_on();
  if (!wrote && claimed.overlap(range)) {
    failure = wrote.error();
    fail_upload(*failure);
  }
  return wrote;
}

DATAFLUX_INLINE result<std::size_t> offset_state::try_write(byte_extent range, bytes_view bytes) {
  lock_type lock(mutex);
  if (auto good = check(range); !good) return std::move(good).error();
  if (bytes.empty()) return std::size_t{0};
  if (auto good = refuse_overlap(range); !good) return std::move(good).error();
  const write_call call(*this, lock, {});
  std::size_t all = 0;
  while (all < bytes.size()) {
    if (auto good = going_on(); !good) return std::move(good).error();
    const std::uint64_t offset = range.offset + all;
    const std::size_t index = part_at(offset);
    part& into = parts[index];
    if (into.at == phase::untouched && into.refused) {
      if (all > 0) break;
      return *std::exchange(into.refused, {});
    }
    if (into.at == phase::untouched) begin_parts({index});
    const std::uint64_t left = into.begin + into.size - offset;
    const byte_extent some{offset, std::min<std::uint64_t>(left, bytes.size() - all)};
    if (into.at != phase::open || claimed.overlap(some)) break;
    claimed.add(some);
    lock.unlock();
    copy(index, some, bytes.subspan(all, static_cast<std::size_t>(some.length)));
    lock.lock();
    all += static_cast<std::size_t>(some.length);
  }
  return all;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
