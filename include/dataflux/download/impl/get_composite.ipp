#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/download/detail/get_composite.hpp>
#include <dataflux/download/detail/get_group.hpp>
#include <dataflux/transfer/detail/ranged_read.hpp>

/// Two things go on, and each tells its owner once. The pieces: compose, then read (slices of the
/// composite, as one get_group), then read_missing (each piece without good bytes from its own
/// object), then owner::done. Where composing is not allowed, or fails, all pieces are missing from
/// the outset.
///
/// The composite: made, then removed, then owner::gone. It is removed as soon as its slices were
/// read, or turn out to be of no use. If no answer says whether it was made, stat() asks: it is
/// removed, or there is none, or nobody knows and it is reported as left. Both end at their own
/// time, in either order.
///
/// All of it is on the strand. The caller's stop and deadline end the reads; they never end the
/// composing and the removal, which have time limits of their own.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// A composite that is in the way of the stream's end is not waited for any longer; the service is
/// out of reach then.
inline constexpr duration remove_timeout = std::chrono::seconds(60);

/// Whether the service has said no to the one request that was sent: then it made nothing.
inline bool surely_not_made(const error& e) noexcept {
  const int status = e.http_status();
  return e.attempts() <= 1 && (status == 400 || status == 401 || status == 403 || status == 404);
}

DATAFLUX_INLINE void get_composite::begin() {
  if (!composer_.begin()) {
    end();
    return read_each();
  }
  compose_request r = composer_.request();
  name_ = r.object;
  for (const get_piece& p : pieces_) r.sources.push_back({p.name.str(), p.generation});
  store().start(
      r, then<object_metadata>([](get_composite& self, const result<object_metadata>& outcome) {
        self.composed(outcome);
      }));
}

DATAFLUX_INLINE void get_composite::composed(const result<object_metadata>& outcome) {
  if (!outcome) {
    composer_.refused(outcome.error());
    surely_not_made(outcome.error()) ? end() : stat(outcome.error());
    return read_each();
  }
  composer_.made();
  generation_ = outcome->generation;
  if (!caller_stop().stop_requested()) return read();
  remove();
  read_each();
}

DATAFLUX_INLINE void get_composite::read() {
  owner_.reads();
  std::uint64_t offset = 0;
  for (get_piece& p : pieces_) {
    // Reading each says so of all that have none.
    if (!owner_.place(p)) {
      remove();
      return read_each();
    }
    get_piece& slice = slices_.emplace_back();
    slice.name = object_name(name_);
    slice.generation = generation_;
    slice.offset = offset;
    slice.length = p.length;
    slice.to = p.to;
    offset += p.length;
  }
  for (get_piece& slice : slices_) slice.object_size = offset;
  std::make_shared<get_group>(composer_.core().engine, owner_.whose, composer_.bucket(), slices_,
                              coalesce_options{.slice = composer_.core().options.slice}, limits(),
                              [self = shared_from_this()] { self->got_slices(); })
      ->start();
}

DATAFLUX_INLINE void get_composite::got_slices() {
  remove();
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (adopt(pieces_[i], slices_[i])) continue;
    pieces_[i].failure = slices_[i].failure;
    missing_.push_back(&pieces_[i]);
  }
  read_missing();
}

/// True if the slice is what the object was said to be. Where sizes are not as they were said to be
/// the composite is of another size than asked for, and every slice has failed.
DATAFLUX_INLINE bool get_composite::adopt(get_piece& piece, const get_piece& slice) {
  if (slice.failure) return false;
  const auto& right = piece.request.crc32c;
  if (right ? slice.crc32c != *right : !slice.verified) return false;
  piece.crc32c = slice.crc32c;
  piece.verified = true;
  return true;
}

DATAFLUX_INLINE void get_composite::read_each() {
  owner_.reads();
  for (get_piece& p : pieces_) missing_.push_back(&p);
  read_missing();
}

DATAFLUX_INLINE void get_composite::read_missing() {
  if (missing_.empty()) return owner_.done();
  if (caller_stop().stop_requested()) return leave_missing(errc::cancelled, "stopped");
  if (clock().passed()) {
    return leave_missing(errc::deadline_exceeded,
                         "no time was left to read it from its own object");
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

/// What was met until then is told; bytes that are not the object's are no success either.
DATAFLUX_INLINE void get_composite::leave_missing(errc code, const std::string& why) {
  for (get_piece* p : missing_) {
    if (!p->failure) p->fail(code, why);
  }
  owner_.done();
}

DATAFLUX_INLINE void get_composite::read_one(get_piece& p) {
  p.failure.reset();
  if (p.to.empty() && !owner_.place(p)) return one_ended();
  const std::uint64_t slice = composer_.core().options.slice;
  if (p.length > slice) return read_ranges(p);
  composer_.core().engine.start(
      {.bucket = composer_.bucket(),
       .object = p.name.str(),
       .generation = p.generation,
       .limits = limits()},
      sinks_.emplace_back(p.to),
      [self = shared_from_this(), &p](const result<read_summary>& o) { self->was_read(p, o); },
      &owner_.whose);
}

DATAFLUX_INLINE void get_composite::read_ranges(get_piece& p) {
  start_ranged_read(
      composer_.core().engine,
      {.bucket = composer_.bucket(),
       .object = p.name.str(),
       .generation = p.generation,
       .crc32c = p.request.crc32c,
       .slice = composer_.core().options.slice,
       .limits = limits()},
      p.to,
      [self = shared_from_this(), &p](const result<ranged_read_summary>& o) {
        self->was_read(p, o);
      },
      &owner_.whose);
}

template <class Summary>
void get_composite::was_read(get_piece& p, const result<Summary>& outcome) {
  within_memory([&] { outcome ? p.check(*outcome) : void(p.failure = outcome.error()); },
                [&] { p.failure = short_of_memory(); });
  one_ended();
}

DATAFLUX_INLINE void get_composite::one_ended() {
  if (--reading_ == 0) owner_.done();
}

/// Whether the composite was made nobody has told us.
DATAFLUX_INLINE void get_composite::stat(const error& why) {
  store().start(
      stat_request{.bucket = composer_.bucket(),
                   .object = name_,
                   .fields = metadata_fields::basic,
                   .limits = {.timeout = remove_timeout}},
      then<object_metadata>([why](get_composite& self, const result<object_metadata>& found) {
        if (found) {
          self.generation_ = found->generation;
          return self.remove();
        }
        if (found.error().code() != errc::not_found) self.composer_.left(why, self.name_);
        self.end();
      }));
}

/// By its generation: so it goes for good where the bucket keeps versions, and may be asked again.
DATAFLUX_INLINE void get_composite::remove() {
  store().start(remove_request{.bucket = composer_.bucket(),
                               .object = name_,
                               .generation = generation_,
                               .limits = {.timeout = remove_timeout}},
                then<void>([](get_composite& self, const result<void>& outcome) {
                  self.composer_.removed(outcome, self.name_);
                  self.end();
                }));
}

DATAFLUX_INLINE void get_composite::end() { owner_.gone(); }

}  // namespace dataflux::inline DATAFLUX_ABI::detail
