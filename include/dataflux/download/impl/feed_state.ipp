#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/download/detail/feed_state.hpp>
#include <dataflux/download/detail/get_stream.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE feed_state::feed_state(object_columns objects, std::size_t most)
    : most_(or_default(most, std::size_t{65536})),
      rows_(std::make_shared<const get_rows>(get_rows{std::move(objects)})) {}

DATAFLUX_INLINE void feed_state::attach(const std::shared_ptr<get_stream>& stream) {
  if (born_.inherited()) return;
  std::scoped_lock lock(mutex_);
  stream_ = stream;
  stream->wake();  // what was pushed before has woken nobody
}

DATAFLUX_INLINE taken feed_state::take(get_piece& into) {
  if (born_.inherited()) return taken::ended;
  std::scoped_lock lock(mutex_);
  if (waiting_.empty()) return finished_ ? taken::ended : taken::nothing;
  entry& first = waiting_.front();
  if (first.row) {
    fill_piece(*first.row, rows_, into);
  } else {
    fill_piece(std::move(first.request), into);
  }
  waiting_.pop_front();
  return taken::some;
}

DATAFLUX_INLINE void feed_state::close() {
  if (born_.inherited()) return;
  std::scoped_lock lock(mutex_);
  finished_ = true;
  stream_.reset();
  waiting_.clear();
}

template <class Item, class Make>
std::size_t feed_state::push(std::span<Item> items, Make make) {
  if (born_.inherited()) return 0;
  std::shared_ptr<get_stream> kept;
  std::scoped_lock lock(mutex_);
  if (finished_) return 0;
  const std::size_t count = std::min(items.size(), most_ - std::min(most_, waiting_.size()));
  for (Item& each : items.first(count)) waiting_.push_back(make(each));
  if (count > 0) kept = wake(stream_);
  return count;
}

DATAFLUX_INLINE std::size_t feed_state::push(std::span<get_request> requests) {
  return push(requests, [](get_request& each) { return entry{std::move(each), std::nullopt}; });
}
DATAFLUX_INLINE std::size_t feed_state::push_rows(std::span<const std::uint64_t> rows) {
  return push(rows, [](std::uint64_t row) { return entry{{}, row}; });
}

DATAFLUX_INLINE void feed_state::finish() {
  if (born_.inherited()) return;
  std::shared_ptr<get_stream> kept;
  std::scoped_lock lock(mutex_);
  finished_ = true;
  kept = wake(stream_);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
