#pragma once

#include <dataflux/download/detail/feed_state.hpp>
#include <dataflux/download/detail/get_stream.hpp>
#include <dataflux/download/detail/piece_source.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/exec/detail/fork.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

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
                                                   detail::source_from(feed.state()))) {
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
  if (stream_ != nullptr) detail::close_stream(std::move(stream_));
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
  if (stream_->queue().inherited()) return detail::forked_error("stream");
  std::optional<got_item> item;
  const bool some = take_or_sleep(
      [&item](detail::get_queue& queue, bool& tell) { return queue.take_one(item, tell); });
  if (some) return item;
  if (auto end = stream_->queue().outcome(); !end) return std::move(end).error();
  return item;
}

DATAFLUX_INLINE result<std::vector<got_item>> getter::next_batch(std::size_t max) {
  if (stream_->queue().inherited()) return detail::forked_error("stream");
  std::vector<got_item> items;
  const bool some = take_or_sleep([&items, max](detail::get_queue& queue, bool& tell) {
    return queue.take(std::max<std::size_t>(max, 1), items, tell);
  });
  if (some) return items;
  return stream_->queue().outcome();
}

DATAFLUX_INLINE result<taken> getter::try_next_batch(std::size_t max, std::vector<got_item>& into) {
  detail::get_queue& queue = stream_->queue();
  if (queue.inherited()) return detail::forked_error("stream");
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
  if (stream->queue().inherited()) return done(detail::forked_error("stream"));
  stream->queue().wait(max, std::move(done), std::move(on_stop));
  stream->wake();
}

DATAFLUX_INLINE void getter::cancel() noexcept {
  if (!stream_->queue().inherited()) stream_->cancel();
}

}  // namespace dataflux::inline DATAFLUX_ABI
