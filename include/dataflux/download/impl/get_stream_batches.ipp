#pragma once

#include <dataflux/download/detail/get_batch.hpp>
#include <dataflux/download/detail/get_stream.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Whether a batch's bytes are compared as well as a read's: with a state, or with a checksum. A
/// member's are not, either way.
inline bool batch_is_compared(const get_request& r, bool sized) noexcept {
  if (!r.member.empty()) return sized && r.generation == 0;
  if (!r.range.is_all()) return r.range_crc32c.has_value();
  return sized && r.generation != 0 && !r.range_crc32c;
}

/// Of a size that is known, so that its memory is, too. What a cache may have is asked for alone.
DATAFLUX_INLINE bool get_stream::batches(const get_piece& p) const noexcept {
  if (core_->engine.has_cache() && p.generation != 0) return false;
  return most_batched_ > 1 && !p.failure && p.length > 0 && !p.request.range.is_suffix() &&
         p.length <= std::min(batched_length, core_->options.slice) &&
         batch_is_compared(p.request, p.object_size.has_value());
}

/// The requests that follow, as far as they make one batch with the unit's. Too few of them are
/// units of their own.
DATAFLUX_INLINE void get_stream::add_batch(std::unique_ptr<get_unit> unit) {
  const std::uint64_t most = std::min(most_batch_bytes, core_->budget.cap() / 8);
  std::vector<get_piece>& pieces = unit->pieces;
  std::uint64_t total = pieces.front().length;
  while (pieces.size() < most_batched_ && has_next() && batches(*next_) &&
         next_->length <= most - std::min(most, total)) {
    total += next_->length;
    pieces.push_back(std::move(*next_));
    next_.reset();
  }
  if (pieces.size() < least_batch) return add_each(std::move(unit));
  unit->batched = true;
  add(std::move(unit));
}

DATAFLUX_INLINE void get_stream::read_batch(get_unit& unit) {
  unit.stop.emplace();
  ++batches_;
  counted([&] {
    std::make_shared<get_batch>(
        core_->engine, request_.bucket, unit.pieces, limits(unit),
        get_batch::owner{.whose = *this,
                         .place = [this](get_piece& p) { return place(p, p.length); },
                         .done =
                             [self = shared_from_this(), &unit](std::size_t got) {
                               self->make_step([&](get_stream& here) {
                                 --here.batches_;
                                 // A service that brings less is asked for each object from now on.
                                 const bool good = 2 * got >= unit.pieces.size();
                                 here.batches_work_ = here.batches_work_ || good;
                                 if (!good && !unit.dropped) here.most_batched_ = 1;
                                 if (!here.ended(unit)) here.done(unit);
                               });
                             }})
        ->begin(most_batched_ > 1);
  });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
