#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/download/detail/get_group.hpp>

#include <algorithm>
#include <new>
#include <numeric>
#include <utility>

/// Pieces of one object are read together in rounds. Where there is a cache look() asks it for each
/// piece; what it has takes no part in what follows. plan() makes a plan of requests that cover
/// all pieces, and sends all of them to the engine. finish() comes when the last one has answered.
/// If the answers are of several generations (mixed) another round reads all of it, of the newest
/// one; after most_rounds the pieces fail. Otherwise sum_up() checks each piece by itself, verify()
/// compares the whole object where the requests are all of it, keep() gives what is left to the
/// cache, and `done` is called once.
///
/// A stop ends the requests, and no round follows; the time limit ends those of each round. All of
/// it is on the strand of the engine, but for scatter_sink: there bytes land on the I/O threads,
/// each sink on one at a time.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// Of an object that is replaced again and again while it is read.
inline constexpr int most_rounds = 4;

DATAFLUX_INLINE get_group::get_group(read_engine& engine, read_member& whose, std::string bucket,
                                     std::span<get_piece> pieces, const coalesce_options& options,
                                     call_limits limits, unique_function<void()> done)
    : engine_(engine),
      member_(whose),
      bucket_(std::move(bucket)),
      pieces_(pieces),
      options_(options),
      clock_(engine.strand(), limits),
      stop_(std::move(limits.stop)),
      done_(std::move(done)),
      generation_(pieces.front().generation) {}

DATAFLUX_INLINE read_request get_group::request_of(const get_piece& p) const {
  return {.bucket = bucket_,
          .object = p.name.str(),
          .range = p.asked(),
          .generation = generation_,
          .limits = clock_.limits(stop_)};
}

DATAFLUX_INLINE void get_group::start() {
  missing_.resize(pieces_.size());
  std::iota(missing_.begin(), missing_.end(), std::size_t{0});
  if (engine_.has_cache() && generation_ != 0 && rounds_ == 0) return look();
  plan();
}

DATAFLUX_INLINE void get_group::look() {
  missing_.clear();
  missing_.reserve(pieces_.size());
  in_flight_ = pieces_.size();
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const bool begun = within_memory([&] {
      engine_.look(request_of(pieces_[i]), cached_.emplace_back(pieces_[i].to),
                   [self = shared_from_this(), i](const result<read_summary>& outcome) {
                     self->looked(i, outcome);
                   });
    });
    if (begun) continue;
    missing_.push_back(i);
    --in_flight_;
  }
  if (in_flight_ == 0) plan();
}

DATAFLUX_INLINE void get_group::looked(std::size_t i, const result<read_summary>& outcome) {
  if (outcome) {
    pieces_[i].check(*outcome);
  } else {
    missing_.push_back(i);
  }
  if (--in_flight_ > 0) return;
  bool goes_on = !missing_.empty();
  if (goes_on) {
    std::sort(missing_.begin(), missing_.end());
    goes_on = within_memory([this] { plan(); });
    for (const std::size_t m : missing_) {
      if (!goes_on) pieces_[m].failure = short_of_memory();
    }
  }
  if (!goes_on) std::exchange(done_, {})();
}

DATAFLUX_INLINE void get_group::plan() {
  std::vector<object_piece> wanted;
  wanted.reserve(missing_.size());
  for (const std::size_t i : missing_) wanted.push_back({pieces_[i].offset, pieces_[i].length});
  auto plan = coalesce(wanted, options_);
  if (!plan) {
    for (const std::size_t i : missing_) pieces_[i].failure = plan.error();
    return engine_.strand().post([self = shared_from_this()] { self->done_(); });
  }
  plan_ = std::move(*plan);
  for (scattered_part& part : plan_.parts) part.piece = missing_[part.piece];
  ++rounds_;
  landings_.clear();
  for (const scattered_part& part : plan_.parts) {
    landings_.push_back(
        {part, pieces_[part.piece].to.subspan(static_cast<std::size_t>(part.offset_in_piece),
                                              static_cast<std::size_t>(part.length))});
  }
  sinks_.clear();
  outcomes_.assign(plan_.requests.size(), std::nullopt);
  in_flight_ = plan_.requests.size();
  for (std::size_t k = 0; k < plan_.requests.size(); ++k) {
    within_memory([&] { read(k); },
                  [&] {
                    outcomes_[k] = result<read_summary>(short_of_memory());
                    --in_flight_;
                  });
  }
  if (in_flight_ == 0) throw std::bad_alloc();  // nothing was begun
}

DATAFLUX_INLINE void get_group::read(std::size_t k) {
  const coalesced_request& q = plan_.requests[k];
  sinks_.emplace_back(std::span(landings_).subspan(q.first_part, q.part_count));
  // Some services tell the checksum with all of an object alone.
  const bool all = q.offset == 0 && pieces_.front().object_size == q.length;
  engine_.start_past_cache(
      {.bucket = bucket_,
       .object = pieces_.front().name.str(),
       .range = all ? byte_range::all() : byte_range::span(q.offset, q.length),
       .generation = generation_,
       .limits = clock_.limits(stop_)},
      sinks_.back(),
      [self = shared_from_this(), k](result<read_summary> outcome) {
        self->outcomes_[k] = std::move(outcome);
        if (--self->in_flight_ == 0) self->finish();
      },
      member_);
}

DATAFLUX_INLINE void get_group::finish() {
  bool again = false;
  within_memory(
      [&] {
        again = !stop_.stop_requested() && mixed();
        if (again) return start();
        const read_summary object = sum_up();
        verify();
        keep(object);
      },
      [&] {
        again = false;
        for (get_piece& p : pieces_) p.failure = short_of_memory();
      });
  if (!again) std::exchange(done_, {})();
}

/// Whether the requests met several generations: then all of it is read again, of the newest.
DATAFLUX_INLINE bool get_group::mixed() {
  if (generation_ != 0 && rounds_ == 1) return false;
  std::int64_t newest = 0;
  bool differ = false;
  for (const auto& o : outcomes_) {
    if (!*o) {
      // Of a generation that a round before had found, and that is gone now.
      const bool gone = (*o).error().code() == errc::not_found && rounds_ > 1;
      if (gone && rounds_ < most_rounds) generation_ = 0;
      if (gone) return rounds_ < most_rounds;
      continue;
    }
    differ = differ || (newest != 0 && (**o).generation != newest);
    newest = std::max(newest, (**o).generation);
  }
  if (!differ) return false;
  if (rounds_ == most_rounds) {
    for (get_piece& p : pieces_) {
      p.fail(errc::aborted, "the object was replaced while it was read");
      p.failure->with_retryable(true);
    }
    return false;
  }
  generation_ = newest;
  return true;
}

/// Gives what the last answer said of the object.
DATAFLUX_INLINE read_summary get_group::sum_up() {
  std::vector<crc32c_accumulator> got(pieces_.size());
  read_summary object;
  for (std::size_t k = 0; k < outcomes_.size(); ++k) {
    const result<read_summary>& outcome = *outcomes_[k];
    const coalesced_request& q = plan_.requests[k];
    for (const landing& l : std::span(landings_).subspan(q.first_part, q.part_count)) {
      get_piece& p = pieces_[l.part.piece];
      if (!outcome && !p.failure) p.failure = outcome.error();
      got[l.part.piece].append(l.got);
    }
    if (outcome) object = *outcome;
  }
  for (const std::size_t i : missing_) {
    get_piece& p = pieces_[i];
    if (p.failure) continue;
    const read_summary summary{.bytes = got[i].length(),
                               .crc32c = got[i].crc(),
                               .object_size = object.object_size,
                               .generation = object.generation};
    p.check(summary);
  }
  return object;
}

/// When the requests are the whole object, without a gap, its checksum is compared.
DATAFLUX_INLINE void get_group::verify() {
  crc32c_accumulator all;
  std::optional<std::uint32_t> right;
  std::uint64_t size = 0;
  for (std::size_t k = 0; k < outcomes_.size(); ++k) {
    const result<read_summary>& outcome = *outcomes_[k];
    if (!outcome || plan_.requests[k].offset != all.length()) return;
    all.append({outcome->crc32c, outcome->bytes});
    right = outcome->object_crc32c;
    size = outcome->object_size;
  }
  if (all.length() != size) return;
  const bool by_other = !right && outcomes_.size() == 1 && (**outcomes_.front()).verified;
  for (const std::size_t i : missing_) {
    if (by_other && !pieces_[i].failure) pieces_[i].verified = true;
  }
  if (!right) return;
  for (const std::size_t i : missing_) {
    get_piece& p = pieces_[i];
    if (p.failure) continue;
    if (all.crc() != p.request.crc32c.value_or(*right) || all.crc() != *right) {
      p.fail(errc::data_loss, "the bytes received do not match the object's CRC32C");
    } else {
      p.verified = true;
    }
  }
}

/// Where there is a cache it has what is not known to be wrong, and what was compared as such.
DATAFLUX_INLINE void get_group::keep(const read_summary& object) {
  if (!engine_.has_cache()) return;
  for (const std::size_t i : missing_) {
    const get_piece& p = pieces_[i];
    if (p.failure) continue;
    engine_.keep(request_of(p),
                 {.bytes = p.length,
                  .crc32c = p.crc32c,
                  .object_size = object.object_size,
                  .object_crc32c = object.object_crc32c,
                  .verified = p.verified,
                  .generation = p.generation},
                 p.to);
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
