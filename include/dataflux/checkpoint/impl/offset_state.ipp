#pragma once

#include <dataflux/checkpoint/detail/offset_state.hpp>
#include <dataflux/checkpoint/detail/writer_opening.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Most parts that an error names.
inline constexpr std::size_t parts_named = 8;

/// "bytes [5, 9)"
inline std::string text_of(byte_extent range) {
  return "bytes [" + std::to_string(range.offset) + ", " +
         std::to_string(range.offset + range.length) + ")";
}

/// Begins with the lock held, and may end with it.
class offset_state::write_call {
 public:
  write_call(offset_state& of, std::unique_lock<std::mutex>& lock) noexcept : of_(of), lock_(lock) {
    ++of.inside;
  }
  write_call(const write_call&) = delete;
  write_call& operator=(const write_call&) = delete;
  ~write_call() {
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

 private:
  offset_state& of_;
  std::unique_lock<std::mutex>& lock_;
  std::size_t pieces_{0};
};

DATAFLUX_INLINE offset_state::offset_state(const transfer_context& with,
                                           std::shared_ptr<object_upload> to, std::uint64_t bytes)
    : context(with), upload(std::move(to)), size(bytes) {
  const auto sizes = upload->plan().sizes(bytes);
  parts.resize(sizes.size());
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    parts[i].begin = begin;
    parts[i].size = sizes[i];
    begin += sizes[i];
  }
  upload->divide(size);
}

DATAFLUX_INLINE result<void> offset_state::going_on() const {
  if (failure) return *failure;
  if (finished) return writer_ended();
  return {};
}

DATAFLUX_INLINE void offset_state::fail(const error& why) {
  const std::scoped_lock lock(mutex);
  if (!failure) failure = why;
  changed.notify_all();
}

DATAFLUX_INLINE result<void> offset_state::out_of_memory() {
  const error why = fail_for_memory(upload, context.strand());
  fail(why);
  return why;
}

DATAFLUX_INLINE result<void> offset_state::ask_memory(std::uint64_t bytes, bool kept) {
  const auto answer = std::make_shared<gate>();
  context.strand().post([upload = upload, bytes, kept, answer] {
    auto give = [answer](result<void> granted) { answer->give(std::move(granted)); };
    if (kept) return upload->keep(bytes, std::move(give));
    upload->reserve(bytes, std::move(give));
  });
  auto granted = *answer->wait();
  if (granted || !upload->failed()) return granted;
  if (kept) return ask_memory(0, false);  // what it has failed with, and not what was refused
  fail(granted.error());
  return granted;
}

DATAFLUX_INLINE std::size_t offset_state::part_at(std::uint64_t offset) const noexcept {
  const auto after =
      std::upper_bound(parts.begin(), parts.end(), offset,
                       [](std::uint64_t wanted, const part& each) { return wanted < each.begin; });
  return static_cast<std::size_t>(after - parts.begin()) - 1;
}

DATAFLUX_INLINE std::string offset_state::open_ones() const {
  std::string names;
  std::size_t found = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].at != phase::open) continue;
    if (++found > parts_named) continue;
    names += (found == 1 ? "" : ", ") + std::to_string(i + 1) + " (" +
             text_of({parts[i].begin, parts[i].size}) + ")";
  }
  if (found == 0) return "; this writer has begun no part";
  if (found > parts_named) names += " and " + std::to_string(found - parts_named) + " more";
  return "; this writer has begun and not filled: part " + names;
}

DATAFLUX_INLINE result<void> offset_state::refuse_overlap(byte_extent range) const {
  const auto taken = claimed.overlap(range);
  if (!taken) return {};
  return error(errc::invalid_argument, text_of(range) + " overlap with " + text_of(*taken) +
                                           ", which are written: each byte is written once");
}

DATAFLUX_INLINE result<void> offset_state::open_parts(const std::vector<std::size_t>& which,
                                                      std::unique_lock<std::mutex>& lock) {
  std::uint64_t bytes = 0;
  for (const std::size_t i : which) {
    bytes += parts[i].size;
    parts[i].at = phase::opening;
  }
  lock.unlock();
  std::vector<buffer> buffers;
  result<void> granted;
  try {
    buffers.reserve(which.size());
    granted = ask_memory(bytes, !single());
    for (std::size_t n = 0; granted && n < which.size(); ++n) {
      const auto each = static_cast<std::size_t>(parts[which[n]].size);
      buffers.push_back(context.state()->uploads.buffers.acquire(each));
    }
  } catch (const std::bad_alloc&) {
    granted = out_of_memory();
  }
  lock.lock();
  for (std::size_t n = 0; n < which.size(); ++n) {
    part& each = parts[which[n]];
    each.at = granted ? phase::open : phase::untouched;
    if (granted) each.memory = std::move(buffers[n]);
  }
  changed.notify_all();
  if (granted || failure) return granted;
  return error(granted.error()).with_message(granted.error().message() + open_ones());
}

DATAFLUX_INLINE result<void> offset_state::open_ends(byte_extent range,
                                                     std::unique_lock<std::mutex>& lock) {
  const std::uint64_t end = range.offset + range.length;
  const std::size_t ends[] = {part_at(range.offset), part_at(end - 1)};
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
    if (others) {
      changed.wait(lock);
      continue;
    }
    if (missing.empty()) return {};
    if (auto good = open_parts(missing, lock); !good) return good;
  }
}

/// A whole part that another thread has opened and not written is copied into.
DATAFLUX_INLINE std::vector<std::size_t> offset_state::claim(byte_extent range) {
  std::vector<std::size_t> borrowed;
  const std::size_t last = part_at(range.offset + range.length - 1);
  for (std::size_t i = part_at(range.offset); i <= last; ++i) {
    if (parts[i].at == phase::untouched) borrowed.push_back(i);
  }
  claimed.add(range);
  for (const std::size_t i : borrowed) parts[i].at = phase::sent;
  return borrowed;
}

DATAFLUX_INLINE void offset_state::send(upload_piece piece) {
  context.strand().post(
      [upload = upload, piece = std::move(piece)]() mutable { upload->send(std::move(piece)); });
}

DATAFLUX_INLINE upload_piece offset_state::piece_of(std::size_t index) {
  part& full = parts[index];
  full.at = phase::sent;
  const bytes_view bytes{full.memory.data(), static_cast<std::size_t>(full.size)};
  return {.bytes = bytes,
          .crc32c = full.filled.crc(),
          .reserved = full.size,
          .release = [owner = std::move(full.memory)]() mutable { owner = {}; },
          .number = static_cast<std::uint32_t>(index + 1),
          .kept = !single()};
}

DATAFLUX_INLINE void offset_state::copy(std::size_t index, byte_extent range, bytes_view bytes) {
  part& into = parts[index];
  const byte_extent within{range.offset - into.begin, range.length};
  std::byte* to = into.memory.data() + within.offset;
  std::uint32_t crc = 0;
  while (!bytes.empty()) {
    const bytes_view some = bytes.first(std::min(bytes.size(), copied_at_once));
    std::memcpy(to, some.data(), some.size());
    crc = codec::crc32c_extend(crc, {to, some.size()});
    to += some.size();
    bytes = bytes.subspan(some.size());
  }
  std::unique_lock lock(mutex);
  into.filled.add(within, crc);
  if (single() || into.filled.bytes() < into.size) return;
  upload_piece piece = piece_of(index);
  lock.unlock();
  send(std::move(piece));
}

DATAFLUX_INLINE result<void> offset_state::send_borrowed(std::size_t index, bytes_view bytes,
                                                         write_call& call) {
  if (auto room = ask_memory(bytes.size(), false); !room) return room;
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

DATAFLUX_INLINE result<void> offset_state::write(byte_extent range, bytes_view bytes) {
  std::unique_lock lock(mutex);
  if (auto good = going_on(); !good) return good;
  if (range.offset > size || range.length > size - range.offset) {
    return error(errc::out_of_range, text_of(range) + " are not within the object's size of " +
                                         std::to_string(size) + " bytes, given to open()");
  }
  if (bytes.empty()) return {};
  if (upload->failed()) {
    lock.unlock();
    return ask_memory(0, false);
  }
  {
    write_call call(*this, lock);
    if (auto good = open_ends(range, lock); !good) return good;
    const auto borrowed = claim(range);
    lock.unlock();
    const std::uint64_t end = range.offset + range.length;
    std::size_t index = part_at(range.offset);
    for (std::uint64_t at = range.offset; at < end; ++index) {
      const std::uint64_t until = std::min(end, parts[index].begin + parts[index].size);
      const bytes_view some = bytes.subspan(static_cast<std::size_t>(at - range.offset),
                                            static_cast<std::size_t>(until - at));
      if (!std::binary_search(borrowed.begin(), borrowed.end(), index)) {
        copy(index, {at, some.size()}, some);
      } else if (auto good = send_borrowed(index, some, call); !good) {
        return good;
      }
      at = until;
    }
  }
  if (upload->failed()) return ask_memory(0, false);
  return {};
}

DATAFLUX_INLINE result<void> offset_state::finish(
    object_store::completion<committed_object>& done) {
  std::unique_lock lock(mutex);
  if (finished) return going_on();
  if (inside > 0) {
    return error(errc::failed_precondition,
                 "a write_at() is under way: commit when all of them have returned");
  }
  const auto gap = claimed.first_gap(size);
  if (gap && !failure && !upload->failed()) {
    return error(errc::failed_precondition, text_of(*gap) + " have not been written");
  }
  finished = true;
  std::optional<upload_piece> last;
  if (single() && parts[0].at == phase::open && !gap) last = piece_of(0);
  drop_buffers();
  lock.unlock();
  context.strand().post(
      [upload = upload, last = std::move(last), done = std::move(done)]() mutable {
        upload->finish(std::move(last), std::move(done));
      });
  return {};
}

DATAFLUX_INLINE void offset_state::start_abort(duration timeout,
                                               object_store::completion<void> done) {
  std::unique_lock lock(mutex);
  if (finished) {
    lock.unlock();
    return done({});
  }
  finished = true;
  if (inside == 0) drop_buffers();
  changed.notify_all();
  lock.unlock();
  context.strand().post([upload = upload, timeout, done = std::move(done)]() mutable {
    upload->abort(timeout, std::move(done));
  });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
