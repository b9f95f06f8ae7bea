#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/download/detail/batch_board.hpp>
#include <dataflux/download/detail/get_stream.hpp>
#include <dataflux/exec/detail/fork.hpp>

#include <algorithm>
#include <limits>
#include <utility>

/// A batch lies in waiting_ until the stream has taken its last row, and in open_ until a consumer
/// takes it. The board reads the stream's queue on the strand: ask() waits there for all that is
/// ready, came() counts it and asks again. So a row costs no other thread anything, and who takes
/// batches is woken when one is complete.
///
/// The stream gives its items as they are ready, since the memory of each is its own: the order is
/// that of batches. end() comes once, by the end of the stream's queue.
namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE batch_board::batch_board(object_columns objects, get_order order)
    : order_(order), objects_(std::make_shared<const get_rows>(get_rows{std::move(objects)})) {}

DATAFLUX_INLINE result<std::uint64_t> batch_board::push_rows(std::span<const std::uint64_t> rows,
                                                             const batch_memory& where) {
  if (born_.inherited()) return forked_error("stream");
  auto made = batch_rows::of_numbers(rows, where, objects_);
  if (!made) return std::move(made).error();
  return begin(*std::move(made));
}

DATAFLUX_INLINE result<std::uint64_t> batch_board::push(std::span<get_request> requests,
                                                        const batch_memory& where) {
  if (born_.inherited()) return forked_error("stream");
  auto made = batch_rows::of_requests(requests, where);
  if (!made) return std::move(made).error();
  return begin(*std::move(made));
}

DATAFLUX_INLINE result<std::uint64_t> batch_board::begin(batch_rows rows) {
  std::shared_ptr<get_stream> stream;
  std::scoped_lock lock(mutex_);
  if (failure_) return error(*failure_);
  if (finished_) {
    return error(errc::failed_precondition, "a batch was pushed behind the end of its stream");
  }
  const std::size_t count = rows.size();
  open_.push_back(
      {.first = rows_,
       .left = count,
       .so_far = {.number = batches_, .memory = rows.memory(), .rows = count, .verified = true}});
  taken_back_unless_kept opened([this] { open_.pop_back(); });
  if (count > 0) {
    waiting_.push_back(std::move(rows));
    taken_back_unless_kept pushed([this] { waiting_.pop_back(); });
    stream = wake(stream_);
    pushed.kept();
  }
  opened.kept();
  rows_ += count;
  if (count == 0) ring();
  return batches_++;
}

DATAFLUX_INLINE void batch_board::finish() {
  if (born_.inherited()) return;
  std::shared_ptr<get_stream> stream;
  std::scoped_lock lock(mutex_);
  finished_ = true;
  stream = wake(stream_);
}

DATAFLUX_INLINE void batch_board::attach(const std::shared_ptr<get_stream>& stream) {
  {
    std::scoped_lock lock(mutex_);
    stream_ = stream;
  }
  ask(stream);
}

DATAFLUX_INLINE taken batch_board::take(get_piece& into) {
  if (born_.inherited()) return taken::ended;
  std::scoped_lock lock(mutex_);
  if (waiting_.empty()) return finished_ ? taken::ended : taken::nothing;
  batch_rows& first = waiting_.front();
  first.fill(next_row_, into);
  if (++next_row_ == first.size()) {
    waiting_.pop_front();
    next_row_ = 0;
  }
  return taken::some;
}

DATAFLUX_INLINE void batch_board::close() {
  if (born_.inherited()) return;
  std::scoped_lock lock(mutex_);
  finished_ = true;
  stream_.reset();
  waiting_.clear();
}

/// Without a limit: all that is ready is taken, so that came() is not called in here again and
/// again.
DATAFLUX_INLINE void batch_board::ask(const std::shared_ptr<get_stream>& stream) {
  stream->queue().wait(
      std::numeric_limits<std::size_t>::max(),
      [self = shared_from_this(),
       weak = std::weak_ptr(stream)](result<std::vector<got_item>> items) {
        if (const auto alive = weak.lock()) self->came(alive, std::move(items));
      },
      nullptr);
  stream->wake();
}

DATAFLUX_INLINE void batch_board::came(const std::shared_ptr<get_stream>& stream,
                                       result<std::vector<got_item>> items) noexcept {
  within_memory(
      [&] {
        if (!items) return end(items.error());
        if (items->empty()) return end(std::nullopt);
        count(*items);
        ask(stream);
      },
      [&] {
        end(short_of_memory());
        stream->cancel();
      });
}

DATAFLUX_INLINE void batch_board::count(std::vector<got_item>& items) {
  std::scoped_lock lock(mutex_);
  open_batch* in = nullptr;
  for (got_item& item : items) {
    if (in == nullptr || item.index - in->first >= in->so_far.rows) {
      const auto behind = std::upper_bound(
          open_.begin(), open_.end(), item.index,
          [](std::uint64_t index, const open_batch& each) { return index < each.first; });
      if (behind == open_.begin()) continue;  // after a failure nobody waits for it
      in = &*std::prev(behind);
    }
    if (item.failure) {
      const auto row = static_cast<std::size_t>(item.index - in->first);
      in->so_far.failures.push_back({row, *std::move(item.failure)});
    } else {
      in->so_far.bytes += item.bytes.size();
      in->so_far.verified = in->so_far.verified && item.verified;
    }
    --in->left;
  }
  if (complete()) ring();
}

DATAFLUX_INLINE void batch_board::end(const std::optional<error>& failure) {
  std::scoped_lock lock(mutex_);
  if (ended_) return;
  ended_ = true;
  failure_ = failure;
  if (failure && failure->code() == errc::cancelled) open_.clear();
  ring();
}

DATAFLUX_INLINE void batch_board::ring() noexcept {
  changed_.notify_all();
  bells_.ring();
}

/// The place of the batch that is to be given next, where it is complete.
DATAFLUX_INLINE std::optional<std::size_t> batch_board::complete() const noexcept {
  const std::size_t most = order_ == get_order::as_asked ? 1 : open_.size();
  for (std::size_t i = 0; i < std::min(most, open_.size()); ++i) {
    if (open_[i].left == 0) return i;
  }
  return std::nullopt;
}

DATAFLUX_INLINE bool batch_board::pop(std::optional<got_batch>& into) {
  const auto place = complete();
  if (!place) return false;
  into.emplace(std::move(open_[*place].so_far));
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(*place));
  return true;
}

DATAFLUX_INLINE result<std::optional<got_batch>> batch_board::next() {
  if (born_.inherited()) return forked_error("stream");
  std::unique_lock lock(mutex_);
  std::optional<got_batch> batch;
  changed_.wait(lock, [&] { return pop(batch) || ended_; });
  if (!batch && failure_) return error(*failure_);
  return batch;
}

DATAFLUX_INLINE result<taken> batch_board::try_next(std::optional<got_batch>& into) {
  if (born_.inherited()) return forked_error("stream");
  std::scoped_lock lock(mutex_);
  if (pop(into)) return taken::some;
  if (failure_) return error(*failure_);
  return ended_ ? taken::ended : taken::nothing;
}

DATAFLUX_INLINE void batch_board::notify(completion_queue& queue, std::uint64_t tag) {
  if (born_.inherited()) return queue.push({tag, errc::failed_precondition});
  std::scoped_lock lock(mutex_);
  bells_.add(queue, tag);
  if (ended_ || complete()) bells_.ring();
}

DATAFLUX_INLINE void batch_board::silence() {
  std::scoped_lock lock(mutex_);
  bells_.clear();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
