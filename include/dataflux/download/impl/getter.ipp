#pragma once

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

struct drawn_requests {
  object_columns objects;
  std::vector<std::uint64_t> rows;
  std::size_t next{0};
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
    if (request) take(std::move(*request), into);
    return request.has_value();
  };
}

inline piece_source pieces_of(std::vector<get_request> requests) {
  return [all = std::move(requests), next = std::size_t{0}](get_piece& into) mutable {
    if (next == all.size()) return false;
    take(std::move(all[next++]), into);
    return true;
  };
}

inline piece_source pieces_of(object_columns objects) {
  auto rows = std::make_shared<listed_requests>();
  rows->objects = std::move(objects);
  rows->next = rows->objects.begin();
  rows->last = rows->objects.end();
  return [rows = std::move(rows)](get_piece& into) {
    if (rows->next == rows->last) return false;
    const object_row row = *rows->next;
    ++rows->next;
    take(row, rows, into);
    return true;
  };
}

inline piece_source pieces_of(object_columns objects, std::vector<std::uint64_t> rows) {
  auto drawn = std::make_shared<drawn_requests>(std::move(objects), std::move(rows));
  return [drawn = std::move(drawn)](get_piece& into) {
    if (drawn->next == drawn->rows.size()) return false;
    const std::uint64_t row = drawn->rows[drawn->next++];
    if (row < drawn->objects.size()) {
      take(drawn->objects[static_cast<std::size_t>(row)], drawn, into);
    } else {
      into.refused = error(errc::out_of_range, "row " + std::to_string(row) + " of a listing of " +
                                                   std::to_string(drawn->objects.size()));
    }
    return true;
  };
}

}  // namespace detail

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
  if (stream_->queue().inherited()) return queue.push({tag, errc::failed_precondition});
  stream_->queue().notify(queue, tag);
  stream_->wake();
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
