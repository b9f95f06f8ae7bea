#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/download/detail/feed_state.hpp>
#include <dataflux/download/detail/get_stream.hpp>
#include <dataflux/download/getter.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

struct listed_requests {
  object_columns objects;
  object_columns::const_iterator next;
  object_columns::const_iterator last;
};

/// The name stays where it is, and `owner` with it.
inline void take(const object_row& row, const std::shared_ptr<const void>& owner, get_piece& into) {
  into.name = object_name(row.name, owner);
  into.request.generation = row.generation;
  into.request.object_size = row.size;
  into.request.crc32c = row.crc32c;
}

inline void take(get_request request, get_piece& into) {
  into.name = object_name(std::move(request.object));
  into.request = std::move(request);
}

inline piece_source pieces_of(get_source source) {
  return [source = std::move(source)](get_piece& into) mutable {
    auto request = source();
    if (!request) return taken::ended;
    take(std::move(*request), into);
    return taken::some;
  };
}

inline piece_source pieces_of(std::vector<get_request> requests) {
  return [all = std::move(requests), next = std::size_t{0}](get_piece& into) mutable {
    if (next == all.size()) return taken::ended;
    take(std::move(all[next++]), into);
    return taken::some;
  };
}

inline piece_source pieces_of(object_columns objects) {
  auto rows = std::make_shared<listed_requests>();
  rows->objects = std::move(objects);
  rows->next = rows->objects.begin();
  rows->last = rows->objects.end();
  return [rows = std::move(rows)](get_piece& into) {
    if (rows->next == rows->last) return taken::ended;
    const object_row row = *rows->next;
    ++rows->next;
    take(row, rows, into);
    return taken::some;
  };
}

inline void take(std::uint64_t row, const std::shared_ptr<const get_rows>& from, get_piece& into) {
  if (row < from->objects.size()) {
    return take(from->objects[static_cast<std::size_t>(row)], from, into);
  }
  into.refused = error(errc::out_of_range, "row " + std::to_string(row) + " of a listing of " +
                                               std::to_string(from->objects.size()));
}

inline piece_source pieces_of(object_columns objects, std::vector<std::uint64_t> rows) {
  auto from = std::make_shared<get_rows>();
  from->objects = std::move(objects);
  return [from = std::shared_ptr<const get_rows>(std::move(from)), rows = std::move(rows),
          next = std::size_t{0}](get_piece& into) mutable {
    if (next == rows.size()) return taken::ended;
    take(rows[next++], from, into);
    return taken::some;
  };
}

/// Asks the feed, which hears of the end of the stream by its destruction.
class fed_source {
 public:
  explicit fed_source(std::shared_ptr<feed_state> feed) noexcept : feed_(std::move(feed)) {}
  fed_source(fed_source&&) noexcept = default;
  fed_source& operator=(fed_source&&) noexcept = default;
  ~fed_source() {
    if (feed_ != nullptr) feed_->close();
  }
  taken operator()(get_piece& into) { return feed_->take(into); }

 private:
  std::shared_ptr<feed_state> feed_;
};

DATAFLUX_INLINE feed_state::feed_state(object_columns objects, std::size_t most)
    : most_(or_default(most, std::size_t{65536})) {
  auto rows = std::make_shared<get_rows>();
  rows->objects = std::move(objects);
  rows_ = std::move(rows);
}

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
    detail::take(*first.row, rows_, into);
  } else {
    detail::take(std::move(first.request), into);
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

/// Under the lock, behind which close() waits: the stream's executor is there as long as that has
/// not been called. The last reference may go without it.
DATAFLUX_INLINE std::shared_ptr<get_stream> feed_state::wake() {
  auto stream = stream_.lock();
  if (stream != nullptr) stream->wake();
  return stream;
}

template <class Item, class Make>
std::size_t feed_state::push(std::span<Item> items, Make make) {
  if (born_.inherited()) return 0;
  std::shared_ptr<get_stream> kept;
  std::scoped_lock lock(mutex_);
  if (finished_) return 0;
  const std::size_t count = std::min(items.size(), most_ - std::min(most_, waiting_.size()));
  for (Item& each : items.first(count)) waiting_.push_back(make(each));
  if (count > 0) kept = wake();
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
  kept = wake();
}

}  // namespace detail

DATAFLUX_INLINE get_feed::get_feed(std::size_t capacity)
    : state_(std::make_shared<detail::feed_state>(object_columns(), capacity)) {}
DATAFLUX_INLINE get_feed::get_feed(object_columns objects, std::size_t capacity)
    : state_(std::make_shared<detail::feed_state>(std::move(objects), capacity)) {}
DATAFLUX_INLINE std::size_t get_feed::push(std::span<get_request> requests) {
  return state_->push(requests);
}
DATAFLUX_INLINE std::size_t get_feed::push_rows(std::span<const std::uint64_t> rows) {
  return state_->push_rows(rows);
}
DATAFLUX_INLINE void get_feed::finish() { state_->finish(); }

DATAFLUX_INLINE getter::getter(const transfer_context& context, get_many_request how,
                               const get_feed& feed)
    : stream_(std::make_shared<detail::get_stream>(context.state(), std::move(how),
                                                   detail::fed_source(feed.state()))) {
  stream_->start();
  feed.state()->attach(stream_);  // from now on it is woken
}
DATAFLUX_INLINE getter::getter(const transfer_context& context, get_many_request how,
                               get_source source)
    : stream_(std::make_shared<detail::get_stream>(context.state(), std::move(how),
                                                   detail::pieces_of(std::move(source)))) {
  stream_->start();
}
DATAFLUX_INLINE getter::getter(const transfer_context& context, get_many_request how,
                               std::vector<get_request> requests)
    : stream_(std::make_shared<detail::get_stream>(context.state(), std::move(how),
                                                   detail::pieces_of(std::move(requests)))) {
  stream_->start();
}
DATAFLUX_INLINE getter::getter(const transfer_context& context, get_many_request how,
                               object_columns objects)
    : stream_(std::make_shared<detail::get_stream>(context.state(), std::move(how),
                                                   detail::pieces_of(std::move(objects)))) {
  stream_->start();
}
DATAFLUX_INLINE getter::getter(const transfer_context& context, get_many_request how,
                               object_columns objects, std::vector<std::uint64_t> rows)
    : stream_(std::make_shared<detail::get_stream>(
          context.state(), std::move(how),
          detail::pieces_of(std::move(objects), std::move(rows)))) {
  stream_->start();
}
DATAFLUX_INLINE getter::getter(getter&&) noexcept = default;
DATAFLUX_INLINE getter& getter::operator=(getter&& other) noexcept {
  if (this != &other) {
    close();
    stream_ = std::move(other.stream_);
  }
  return *this;
}
DATAFLUX_INLINE getter::~getter() { close(); }

DATAFLUX_INLINE void getter::close() noexcept {
  if (stream_ == nullptr) return;
  if (stream_->queue().inherited()) {
    // Its locks and threads are the parent's.
    static_cast<void>(new (std::nothrow) std::shared_ptr<detail::get_stream>(std::move(stream_)));
    return;
  }
  stream_->queue().silence();
  stream_->cancel();
  if (!stream_->strand().is_current()) stream_->queue().wait_until_quiet();
}

/// Takes by `take(queue, tell)`, and sleeps while there is nothing. False at the end.
template <class Take>
bool getter::take_or_sleep(Take take) {
  detail::get_queue& queue = stream_->queue();
  for (;;) {
    bool tell = false;
    const taken what = take(queue, tell);
    if (tell) stream_->wake();
    if (what != taken::nothing) return what == taken::some;
    queue.sleep([this] { stream_->wake(); });
  }
}

DATAFLUX_INLINE result<std::optional<got_item>> getter::next() {
  if (stream_->queue().inherited()) return forked_error("stream");
  std::optional<got_item> item;
  const bool some = take_or_sleep(
      [&item](detail::get_queue& queue, bool& tell) { return queue.take_one(item, tell); });
  if (some) return item;
  if (auto end = stream_->queue().outcome(); !end) return std::move(end).error();
  return item;
}

DATAFLUX_INLINE result<std::vector<got_item>> getter::next_batch(std::size_t max) {
  if (stream_->queue().inherited()) return forked_error("stream");
  std::vector<got_item> items;
  const bool some = take_or_sleep([&items, max](detail::get_queue& queue, bool& tell) {
    return queue.take(std::max<std::size_t>(max, 1), items, tell);
  });
  if (some) return items;
  return stream_->queue().outcome();
}

DATAFLUX_INLINE result<taken> getter::try_next_batch(std::size_t max, std::vector<got_item>& into) {
  detail::get_queue& queue = stream_->queue();
  if (queue.inherited()) return forked_error("stream");
  bool tell = false;
  const taken what = queue.take(std::max<std::size_t>(max, 1), into, tell);
  if (tell) stream_->wake();
  if (what != taken::ended) return what;
  if (auto end = queue.outcome(); !end) return std::move(end).error();
  return what;
}

DATAFLUX_INLINE void getter::notify(completion_queue& queue, std::uint64_t tag) {
  const auto stream = stream_;  // who hears of it may end the getter
  if (stream->queue().inherited()) return queue.push({tag, errc::failed_precondition});
  stream->queue().notify(queue, tag);
  stream->wake();
}

DATAFLUX_INLINE operation<std::vector<got_item>> getter::submit_next_batch(std::size_t max) {
  call_limits limits;
  return start_operation<std::vector<got_item>>(limits, [&](auto done) {
    wait(max, std::move(done),
         std::make_shared<detail::stop_link<detail::get_stream>>(limits.stop, stream_));
  });
}

DATAFLUX_INLINE void getter::start_next_batch(
    std::size_t max, object_store::completion<std::vector<got_item>> done) {
  wait(max, std::move(done), nullptr);
}

DATAFLUX_INLINE void getter::wait(std::size_t max,
                                  object_store::completion<std::vector<got_item>> done,
                                  std::shared_ptr<void> on_stop) {
  const auto stream = stream_;  // `done` may end the getter
  if (stream->queue().inherited()) return done(forked_error("stream"));
  stream->queue().wait(max, std::move(done), std::move(on_stop));
  stream->wake();
}

DATAFLUX_INLINE void getter::cancel() noexcept {
  if (!stream_->queue().inherited()) stream_->cancel();
}

}  // namespace dataflux::inline DATAFLUX_ABI
