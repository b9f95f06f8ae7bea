#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/download/detail/get_batch.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE void get_batch::begin(bool together) {
  make_step([together](get_batch& self) { self.ask(together); });
}

/// What a batch compares itself is the state of a whole object.
inline batched_read batched(const get_piece& p) {
  const bool whole = p.request.range.is_all();
  const bool of_state = whole && p.request.member.empty();
  return {.object = p.name.str(),
          .generation = of_state ? p.generation : 0,
          .into = p.to,
          .offset = whole ? 0 : p.offset,
          .whole = whole,
          .member = p.request.member};
}

DATAFLUX_INLINE void get_batch::ask(bool together) {
  missing_.reserve(pieces_.size());
  read_batch_request r{.bucket = bucket_, .limits = limits()};
  if (r.limits.timeout == duration{0} || r.limits.timeout > batch_time) {
    r.limits.timeout = batch_time;
  }
  r.entries.reserve(pieces_.size());
  for (get_piece& p : pieces_) {
    if (!owner_.place(p)) {
      for (get_piece& each : pieces_) each.failure = p.failure;
      return tell();
    }
    missing_.push_back(&p);
    r.entries.push_back(batched(p));
  }
  if (!together) return read_missing();
  store().start(r, then<std::vector<batched_bytes>>(
                       [](get_batch& self, const result<std::vector<batched_bytes>>& outcome) {
                         self.arrived(outcome);
                       }));
}

/// Without memory nothing is begun: what reads already ends by itself.
DATAFLUX_INLINE void get_batch::fall_short(const error& why) {
  if (told_ || reading_ != 0) return;
  for (get_piece& p : pieces_) {
    const bool got = got_ != 0 && std::find(missing_.begin(), missing_.end(), &p) == missing_.end();
    if (!got) p.failure = why;
  }
  tell();
}

DATAFLUX_INLINE void get_batch::tell() {
  if (!std::exchange(told_, true)) owner_.done(got_);
}

/// Why a batch failed is told by the reads of the single objects, or is of no interest.
DATAFLUX_INLINE void get_batch::arrived(const result<std::vector<batched_bytes>>& outcome) {
  missing_.clear();
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (outcome && i < outcome->size() && adopt(pieces_[i], (*outcome)[i])) {
      ++got_;
    } else {
      missing_.push_back(&pieces_[i]);  // there is room
    }
  }
  read_missing();
}

DATAFLUX_INLINE bool get_batch::adopt(get_piece& piece, const batched_bytes& came) {
  if (!came.got) return false;
  const get_request& r = piece.request;
  const auto& right = r.range_crc32c ? r.range_crc32c : r.crc32c;
  if (right && came.crc32c != *right) return false;
  piece.crc32c = came.crc32c;
  piece.verified = came.verified || right.has_value();
  return true;
}

DATAFLUX_INLINE void get_batch::read_missing() {
  if (missing_.empty()) return tell();
  const bool stopped = caller_stop().stop_requested();
  if (stopped || clock().passed()) {
    for (get_piece* p : missing_) {
      within_memory(
          [&] {
            stopped ? p->fail(errc::cancelled, "stopped")
                    : p->fail(errc::deadline_exceeded, "no time was left to read it by itself");
          },
          [&] { p->failure = short_of_memory(); });
    }
    return tell();
  }
  reading_ = missing_.size();
  for (get_piece* p : missing_) {
    within_memory([&] { read_one(*p); },
                  [&] {
                    p->failure = short_of_memory();
                    one_ended();
                  });
  }
}

DATAFLUX_INLINE void get_batch::read_one(get_piece& p) {
  engine_.start(
      {.bucket = bucket_,
       .object = p.name.str(),
       .range = p.asked(),
       .generation = p.generation,
       .member = p.request.member,
       .limits = limits()},
      sinks_.emplace_back(p.to),
      [self = shared_from_this(), &p](const result<read_summary>& outcome) {
        self->was_read(p, outcome);
      },
      &owner_.whose);
}

DATAFLUX_INLINE void get_batch::was_read(get_piece& p, const result<read_summary>& outcome) {
  within_memory([&] { outcome ? p.check(*outcome) : void(p.failure = outcome.error()); },
                [&] { p.failure = short_of_memory(); });
  one_ended();
}

DATAFLUX_INLINE void get_batch::one_ended() {
  if (--reading_ == 0) tell();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
