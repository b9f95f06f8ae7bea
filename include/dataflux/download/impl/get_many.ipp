#pragma once

#include <dataflux/download/detail/get_stream.hpp>
#include <dataflux/download/get_many.hpp>

#include <new>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

struct listed_requests {
  object_columns objects;
  object_columns::const_iterator next;
  object_columns::const_iterator last;
};

inline get_source requests_of(std::vector<get_request> requests) {
  return
      [all = std::move(requests), next = std::size_t{0}]() mutable -> std::optional<get_request> {
        if (next == all.size()) return std::nullopt;
        return std::move(all[next++]);
      };
}

inline get_source requests_of(object_columns objects) {
  auto rows = std::make_unique<listed_requests>();
  rows->objects = std::move(objects);
  rows->next = rows->objects.begin();
  rows->last = rows->objects.end();
  return [rows = std::move(rows)]() -> std::optional<get_request> {
    if (rows->next == rows->last) return std::nullopt;
    const object_row row = *rows->next;
    ++rows->next;
    get_request r;
    r.object = row.name;
    r.generation = row.generation;
    r.object_size = row.size;
    r.crc32c = row.crc32c;
    return r;
  };
}

}  // namespace detail

DATAFLUX_INLINE getter::getter(const transfer_context& context, std::string bucket,
                               get_source source, const get_many_options& options)
    : stream_(std::make_shared<detail::get_stream>(context.state(), std::move(bucket),
                                                   std::move(source), options)) {
  stream_->begin();
}
DATAFLUX_INLINE getter::getter(const transfer_context& context, std::string bucket,
                               std::vector<get_request> requests, const get_many_options& options)
    : getter(context, std::move(bucket), detail::requests_of(std::move(requests)), options) {}
DATAFLUX_INLINE getter::getter(const transfer_context& context, std::string bucket,
                               object_columns objects, const get_many_options& options)
    : getter(context, std::move(bucket), detail::requests_of(std::move(objects)), options) {}
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
  if (stream_->outbox().inherited()) {
    // Its locks and threads are the parent's.
    static_cast<void>(new (std::nothrow) std::shared_ptr<detail::get_stream>(std::move(stream_)));
    return;
  }
  stream_->cancel();
  if (!stream_->home().is_current()) stream_->outbox().wait_until_quiet();
}

DATAFLUX_INLINE result<std::optional<got_item>> getter::next() {
  if (!stream_->outbox().inherited()) {
    bool tell = false;
    auto ready = stream_->outbox().take_one(tell);
    if (tell) stream_->wake();
    if (ready) return ready;
  }
  auto batch = submit_next_batch(1).take();
  if (!batch) return std::move(batch).error();
  if (batch->empty()) return std::optional<got_item>();
  return std::optional<got_item>(std::move(batch->front()));
}

DATAFLUX_INLINE result<std::vector<got_item>> getter::next_batch(std::size_t max) {
  return submit_next_batch(max).take();
}

DATAFLUX_INLINE operation<std::vector<got_item>> getter::submit_next_batch(std::size_t max) {
  call_limits limits;
  return start_operation<std::vector<got_item>>(limits, [&](auto done) {
    struct stopper {
      std::weak_ptr<detail::get_stream> stream;
      void operator()() const noexcept {
        if (const auto alive = stream.lock()) alive->cancel();
      }
    };
    wait(max, std::move(done),
         std::make_shared<std::stop_callback<stopper>>(limits.stop, stopper{stream_}));
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
  if (stream->outbox().inherited()) return done(forked_error("stream"));
  stream->outbox().wait(max, std::move(done), std::move(on_stop));
  stream->wake();
}

DATAFLUX_INLINE void getter::cancel() noexcept {
  if (!stream_->outbox().inherited()) stream_->cancel();
}

}  // namespace dataflux::inline DATAFLUX_ABI
