#pragma once

#include <dataflux/checkpoint/detail/offset_state.hpp>
#include <dataflux/checkpoint/detail/writer_opening.hpp>
#include <dataflux/checkpoint/detail/writer_state.hpp>
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
}

DATAFLUX_INLINE std::shared_ptr<offset_state> offset_state::make(const transfer_context& with,
                                                                 std::shared_ptr<object_upload> to,
                                                                 std::uint64_t bytes) {
  auto made = std::make_shared<offset_state>(with, std::move(to), bytes);
  made->upload->divide(bytes);
  made->upload->on_failed([state = std::weak_ptr(made)](const error& why) {
    if (const auto there = state.lock()) there->fail(why);
  });
  return made;
}

DATAFLUX_INLINE result<void> offset_state::going_on() const {
  if (failure) return *failure;
  if (finished) return writer_ended();
  return {};
}

/// What the upload says of it takes the place of what was said here. After an abort there is none.
DATAFLUX_INLINE void offset_state::fail(const error& why) {
  const std::scoped_lock lock(mutex);
  if (aborted) return;
  failure = why;
  changed.notify_all();
  news.ring();
}

DATAFLUX_INLINE void offset_state::fail_upload(error why) {
  context.strand().post(
      [upload = upload, why = std::move(why)]() mutable { upload->fail(std::move(why)); });
}

DATAFLUX_INLINE error offset_state::out_of_memory() {
  error why = short_of_memory();
  within_memory([&] { why = fail_for_memory(upload, context.strand()); });
  fail(why);
  return why;
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

DATAFLUX_INLINE result<void> offset_state::check(byte_extent range) const {
  if (auto good = going_on(); !good) return good;
  if (range.offset <= size && range.length <= size - range.offset) return {};
  return error(errc::out_of_range, text_of(range) + " are not within the object's size of " +
                                       std::to_string(size) + " bytes, given to open()");
}

DATAFLUX_INLINE void offset_state::begin_parts(std::vector<std::size_t> which, refusal asker) {
  std::uint64_t bytes = 0;
  for (const std::size_t i : which) {
    bytes += parts[i].size;
    parts[i].at = phase::opening;
    parts[i].refused.reset();
  }
  ++opening;
  // Its own memory is taken before it waits for that of parts.
  std::vector<buffer> room(which.size());
  auto answered = [self = shared_from_this(), buffers = std::move(room), which = std::move(which),
                   asker = std::move(asker)](result<void> granted) mutable {
    self->parts_opened(which, std::move(buffers), std::move(granted), asker);
  };
  context.strand().post([self = shared_from_this(), bytes,
                         answered = object_store::completion<void>(std::move(answered))]() mutable {
    object_upload& from = *self->upload;
    const auto ask = [&] {
      self->single() ? from.reserve(bytes, std::move(answered))
                     : from.keep(bytes, std::move(answered));
    };
    // All who wait hear of a failure.
    within_memory(ask, [&] { self->lose(); });
  });
}

DATAFLUX_INLINE void offset_state::lose() {
  fail(short_of_memory());
  upload->fail(short_of_memory());
}

DATAFLUX_INLINE void offset_state::parts_opened(const std::vector<std::size_t>& which,
                                                std::vector<buffer> buffers, result<void> granted,
                                                const refusal& asker) {
  const auto acquire = [&] {
    for (std::size_t n = 0; granted && n < which.size(); ++n) {
      const auto each = static_cast<std::size_t>(parts[which[n]].size);
      buffers[n] = context.state()->uploads.buffers.acquire(each);
    }
  };
  within_memory(acquire, [&] { granted = out_of_memory(); });
  const std::scoped_lock lock(mutex);
  for (std::size_t n = 0; n < which.size(); ++n) {
    part& each = parts[which[n]];
    each.at = granted ? phase::open : phase::untouched;
    if (granted && !finished) each.memory = std::move(buffers[n]);
  }
  if (!granted && !failure) refuse(which, granted.error(), asker);
  --opening;
  changed.notify_all();
  news.ring();
}

DATAFLUX_INLINE void offset_state::refuse(const std::vector<std::size_t>& which, error why,
                                          const refusal& asker) {
  within_memory([&] { why.with_message(why.message() + open_ones()); });
  if (asker != nullptr) {
    *asker = std::move(why);
  } else {
    for (const std::size_t i : which) parts[i].refused = why;
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

DATAFLUX_INLINE void offset_state::unclaim(byte_extent range,
                                           const std::vector<std::size_t>& borrowed) {
  claimed.remove(range);
  for (const std::size_t i : borrowed) parts[i].at = phase::untouched;
  changed.notify_all();
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

DATAFLUX_INLINE void offset_state::notify(completion_queue& queue, std::uint64_t tag) {
  const std::scoped_lock lock(mutex);
  news.add(queue, tag);
  if (opening == 0 || !going_on()) news.ring();
}

DATAFLUX_INLINE void offset_state::silence() {
  const std::scoped_lock lock(mutex);
  news.clear();
}

DATAFLUX_INLINE result<void> offset_state::finish(
    const call_limits& limits, object_store::completion<committed_object>& done) {
  lock_type lock(mutex);
  if (finished) return going_on();
  if (inside > 0) {
    return error(errc::failed_precondition,
                 "a write_at() is under way: commit when all of them have returned");
  }
  const auto gap = claimed.first_gap(size);
  if (gap && !failure && !upload->failed()) {
    return error(errc::failed_precondition, text_of(*gap) + " have not been written");
  }
  std::optional<upload_piece> last;
  if (single() && parts[0].at == phase::open && !gap) last = piece_of(0);
  finished = true;
  drop_buffers();
  news.ring();
  std::optional<error> why = failure;
  lock.unlock();
  taken_back_unless_kept ends([this] { end_lost(); });
  context.strand().post([upload = upload, why = std::move(why), limits, at = &context.strand(),
                         last = std::move(last), done = std::move(done)]() mutable {
    end_upload(*upload, std::move(why), limits, *at, std::move(last), std::move(done));
  });
  ends.kept();
  return {};
}

DATAFLUX_INLINE void offset_state::end_lost() noexcept {
  const std::scoped_lock lock(mutex);
  if (!failure) failure = short_of_memory();
  finished = false;
  aborted = false;
}

DATAFLUX_INLINE void offset_state::start_abort(duration timeout, const call_limits& limits,
                                               object_store::completion<void> done) {
  lock_type lock(mutex);
  if (finished) {
    lock.unlock();
    return done({});
  }
  finished = true;
  aborted = true;
  if (inside == 0) drop_buffers();
  changed.notify_all();
  news.ring();
  lock.unlock();
  taken_back_unless_kept ends([this] { end_lost(); });
  context.strand().post(
      [upload = upload, timeout, limits, at = &context.strand(), done = std::move(done)]() mutable {
        abort_upload(*upload, timeout, limits, *at, std::move(done));
      });
  ends.kept();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
