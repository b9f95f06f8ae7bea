#pragma once

#include <dataflux/download/detail/get_composite.hpp>
#include <dataflux/download/detail/get_stream.hpp>

#include <iterator>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Only of exactly this generation, and of a size that is known, can it be told where it lies in a
/// composite.
inline bool may_be_source(const get_piece& p) noexcept {
  return !p.failure && p.request.range.is_all() && p.object_size && p.generation != 0 &&
         p.request.member.empty();
}

/// The requests that follow, as far as they make one composite with the unit's. Too few of them are
/// units of their own.
DATAFLUX_INLINE void get_stream::add_sources(std::unique_ptr<get_unit> unit) {
  std::vector<get_piece>& pieces = unit->pieces;
  composite_group group = composer_->group();
  if (!may_be_source(pieces.front()) || !group.add(pieces.front().length)) {
    return add(std::move(unit));
  }
  while (has_next() && may_be_source(*next_) && group.add(next_->length)) {
    pieces.push_back(std::move(*next_));
    next_.reset();
  }
  if (pieces.size() >= composer_->min_objects()) {
    unit->several = true;
    return add(std::move(unit));
  }
  add_each(std::move(unit));
}

/// As units of their own.
DATAFLUX_INLINE void get_stream::add_each(std::unique_ptr<get_unit> unit) {
  std::vector<get_piece>& pieces = unit->pieces;
  std::vector<get_piece> others(std::make_move_iterator(pieces.begin() + 1),
                                std::make_move_iterator(pieces.end()));
  pieces.resize(1);
  add(std::move(unit));
  for (get_piece& p : others) {
    auto single = fresh_unit();
    single->pieces.push_back(std::move(p));
    add(std::move(single));
  }
}

DATAFLUX_INLINE void get_stream::read_composite(get_unit& unit) {
  unit.stop.emplace();
  unit.composing = true;
  one_more();  // the reads
  one_more();  // the composite
  const auto self = shared_from_this();
  std::make_shared<get_composite>(
      *composer_, unit.pieces, limits(unit),
      get_composite::owner{.whose = *this,
                           .place = [this](get_piece& p) { return place(p, p.length); },
                           .reads = [&unit] { unit.composing = false; },
                           .done =
                               [self, &unit] {
                                 if (!self->ended(unit)) self->done(unit);
                               },
                           .gone =
                               [self] {
                                 self->one_less();
                                 self->wake();
                               }})
      ->begin();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
