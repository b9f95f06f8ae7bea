#pragma once

#include <dataflux/checkpoint/detail/compared_read.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/transfer/detail/ranged_read.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE result<void> cell_sink::expect(std::uint64_t length) {
  static_cast<void>(length);  // less when the object ends early, never more than was asked for
  return {};
}

DATAFLUX_INLINE bytes_span cell_sink::prepare(std::size_t wanted) {
  return memory_.subspan(used_, std::min(wanted, memory_.size() - used_));
}

DATAFLUX_INLINE result<void> cell_sink::commit(std::size_t count) {
  while (count > 0) {
    const std::uint64_t at = offset_ + used_;
    if (sums_.empty() || at == cell_end_) {
      const byte_extent cell = cells_.cell_of(at);
      cell_end_ = cell.offset + cell.length;
      sums_.emplace_back();
    }
    const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(count, cell_end_ - at));
    sums_.back().update(memory_.subspan(used_, some));
    used_ += some;
    count -= some;
  }
  return {};
}

DATAFLUX_INLINE result<void> cell_sink::rewind(std::uint64_t offset) {
  used_ = 0;
  sums_.clear();
  return commit(static_cast<std::size_t>(offset));  // those are there
}

DATAFLUX_INLINE compared_read::compared_read(std::shared_ptr<reader_state> state, byte_extent range,
                                             bytes_span into, call_limits limits, completion done)
    : state_(std::move(state)),
      range_(range),
      into_(into),
      limits_(std::move(limits)),
      done_(std::move(done)),
      sink_(state_->cells(), range.offset, into) {}

template <class Step>
void compared_read::make_step(Step&& step) noexcept {
  within_memory(static_cast<Step&&>(step), [this] { failure_ = short_of_memory(); });
  within_memory([this] { end(); });  // who is told ends its call itself
}

DATAFLUX_INLINE void compared_read::begin() noexcept {
  const auto self = shared_from_this();
  if (within_memory([this] { read(); })) return;
  make_step([this] { failure_ = short_of_memory(); });
}

DATAFLUX_INLINE void compared_read::read() {
  if (state_->by_parts()) {  // a whole part, by requests in parallel
    state_->read(range_, into_, limits_,
                 [self = shared_from_this()](const result<ranged_read_summary>& outcome) {
                   self->make_step([&] {
                     if (!outcome) self->failure_ = outcome.error();
                     if (outcome) {
                       self->arrived(outcome->bytes, {{outcome->crc32c, outcome->bytes}});
                     }
                   });
                 });
    return;
  }
  state_->read(range_, sink_, limits_,
               [self = shared_from_this()](const result<read_summary>& outcome) {
                 self->make_step([&] {
                   if (!outcome) self->failure_ = outcome.error();
                   if (outcome) self->arrived(outcome->bytes, self->sink_.sums());
                 });
               });
}

DATAFLUX_INLINE bytes_span compared_read::memory_of(byte_extent range) const noexcept {
  return into_.subspan(static_cast<std::size_t>(range.offset - range_.offset),
                       static_cast<std::size_t>(range.length));
}

DATAFLUX_INLINE void compared_read::arrived(std::uint64_t bytes,
                                            const std::vector<crc32c_accumulator>& sums) {
  if (bytes != range_.length) {
    failure_ = state_->described(errc::data_loss, "the service sent fewer bytes than there are");
    return;
  }
  std::vector<byte_extent> unclear;
  std::uint64_t at = range_.offset;
  for (const crc32c_accumulator& sum : sums) {
    const byte_extent range{at, sum.length()};
    const auto compared = state_->received(range, memory_of(range), sum.crc());
    if (!compared) {
      failure_ = compared.error();
      return;
    }
    if (!*compared) unclear.push_back(range);
    at += sum.length();
  }
  // One more until all are begun: those that have no memory end at once.
  ++cells_left_;
  const taken_back_unless_kept begun([this] { --cells_left_; });
  for (const byte_extent& range : unclear) read_cell(range);
}

DATAFLUX_INLINE void compared_read::read_cell(byte_extent range) {
  ++cells_left_;
  taken_back_unless_kept counted([this] { --cells_left_; });
  state_->read_cell(range.offset, limits_,
                    [self = shared_from_this(), range](const result<shared_bytes>& cell) {
                      --self->cells_left_;
                      self->make_step([&] {
                        if (cell) {
                          self->state_->copy_of_cell(*cell, range, self->memory_of(range));
                        } else if (!self->failure_) {
                          self->failure_ = cell.error();
                        }
                      });
                    });
  counted.kept();
}

DATAFLUX_INLINE void compared_read::end() {
  if (cells_left_ > 0 || !done_) return;
  auto done = std::exchange(done_, {});
  if (failure_) return done(*failure_);
  done({});
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
