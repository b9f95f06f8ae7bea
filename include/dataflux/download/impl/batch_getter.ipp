#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/download/batch_getter.hpp>
#include <dataflux/download/detail/batch_board.hpp>
#include <dataflux/download/detail/get_stream.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE batch_getter::batch_getter(const transfer_context& context, get_many_request how,
                                           object_columns objects)
    : board_(std::make_shared<detail::batch_board>(std::move(objects), how.order)) {
  how.order = get_order::as_ready;
  stream_ = std::make_shared<detail::get_stream>(context.state(), std::move(how),
                                                 detail::source_from(board_));
  stream_->start();
  detail::taken_back_unless_kept begun([this] { close(); });
  board_->attach(stream_);
  begun.kept();
}
DATAFLUX_INLINE batch_getter::batch_getter(batch_getter&&) noexcept = default;
DATAFLUX_INLINE batch_getter& batch_getter::operator=(batch_getter&& other) noexcept {
  if (this != &other) {
    close();
    board_ = std::move(other.board_);
    stream_ = std::move(other.stream_);
  }
  return *this;
}
DATAFLUX_INLINE batch_getter::~batch_getter() { close(); }

DATAFLUX_INLINE void batch_getter::close() noexcept {
  if (stream_ == nullptr) return;
  if (!stream_->queue().inherited()) board_->silence();
  detail::close_stream(std::move(stream_));
}

DATAFLUX_INLINE result<std::uint64_t> batch_getter::push_rows(std::span<const std::uint64_t> rows,
                                                              const batch_memory& where) {
  return board_->push_rows(rows, where);
}
DATAFLUX_INLINE result<std::uint64_t> batch_getter::push(std::span<get_request> requests,
                                                         const batch_memory& where) {
  return board_->push(requests, where);
}
DATAFLUX_INLINE void batch_getter::finish() { board_->finish(); }
DATAFLUX_INLINE result<std::optional<got_batch>> batch_getter::next() { return board_->next(); }
DATAFLUX_INLINE result<taken> batch_getter::try_next(std::optional<got_batch>& into) {
  return board_->try_next(into);
}
DATAFLUX_INLINE void batch_getter::notify(completion_queue& queue, std::uint64_t tag) {
  board_->notify(queue, tag);
}
DATAFLUX_INLINE void batch_getter::cancel() noexcept {
  if (!stream_->queue().inherited()) stream_->cancel();
}

}  // namespace dataflux::inline DATAFLUX_ABI
