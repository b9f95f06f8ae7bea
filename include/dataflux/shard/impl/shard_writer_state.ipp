#pragma once

#include <dataflux/checkpoint/detail/writer_state.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/exec/detail/fork.hpp>
#include <dataflux/shard/detail/shard_sidecar.hpp>
#include <dataflux/shard/detail/shard_writer_state.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Objects are not larger than that; it is more than an index can tell of one shard.
inline constexpr std::uint64_t largest_shard_hint = std::uint64_t{2} << 40U;

/// Whether both are the same memory.
inline bool is_same_memory(const sample_field& a, const sample_field& b) noexcept {
  return a.name.data() == b.name.data() && a.name.size() == b.name.size() &&
         a.bytes.data() == b.bytes.data() && a.bytes.size() == b.bytes.size();
}

DATAFLUX_INLINE shard_writer_state::shard_writer_state(const transfer_context& with,
                                                       shard_writer_request what,
                                                       shard_pattern names)
    : context(with),
      request(std::move(what)),
      pattern(std::move(names)),
      scheme_(with.store().traits().scheme),
      packer_({request.count, request.bytes}),
      number_(request.first + request.rank) {}

DATAFLUX_INLINE void shard_writer_state::resume(const resumed_shards& found) {
  resumed = found;
  number_ += found.shards * request.ranks;
}

DATAFLUX_INLINE result<void> shard_writer_state::usable(const turn& mine) const {
  if (born.inherited()) return forked_error("writer");
  return mine.granted();
}

DATAFLUX_INLINE error shard_writer_state::fail(error why) {
  if (why.bucket().empty()) {
    why.with_scheme(scheme_).with_bucket(request.bucket);
  }
  if (why.object().empty()) why.with_object(name_);
  failure_ = std::move(why);
  return *failure_;
}

DATAFLUX_INLINE bool shard_writer_state::is_same(
    std::string_view key, std::span<const sample_field> fields) const noexcept {
  return key == key_ &&
         std::equal(fields.begin(), fields.end(), given_.begin(), given_.end(), is_same_memory);
}

DATAFLUX_INLINE result<bool> shard_writer_state::try_write(std::string_view key,
                                                           std::span<const sample_field> fields) {
  if (failure_) return *failure_;
  if (finished || no_more_) {
    return error(errc::failed_precondition, "the writer has been finished or aborted");
  }
  if (!taken_) {
    if (auto good = packer_.take(key, fields); !good) return std::move(good).error();
    key_ = key;
    given_.assign(fields.begin(), fields.end());
    taken_ = true;
    added_ = false;
  } else if (!is_same(key, fields)) {
    return error(
        errc::failed_precondition,
        "the sample before is not written whole; write it again first, from the same memory");
  }
  auto whole = go_on();
  if (!whole || !*whole) return whole;
  taken_ = false;
  ++samples;
  return true;
}

DATAFLUX_INLINE result<bool> shard_writer_state::go_on() {
  if (!added_) {
    auto busy_ending = is_ending();
    if (!busy_ending) return busy_ending;
    if (open_ && (ending_begun_ || !packer_.fits())) {
      if (*busy_ending) {
        waits_ = wait::ending;
        return false;
      }
      const shard_end why = packer_.is_full_by_count() ? shard_end::count : shard_end::bytes;
      if (auto written = write_end(); !written || !*written) return written;
      auto packed = packed_ending(why);
      if (!packed) return fail(std::move(packed).error());
      call_limits limits{.stop = request.stop};
      ending_ = start_operation<shard_writer_summary>(
          limits, [&](auto done) { start_end(*std::move(packed), limits, std::move(done)); });
      static_cast<void>(ending_.on_ready([news = news] { news->ring(); }));
    }
    if (auto there = open_next(); !there || !*there) return there;
    pieces_ = packer_.add();
    added_ = true;
  }
  return write_pieces();
}

/// Whether the shard before is still being ended.
DATAFLUX_INLINE result<bool> shard_writer_state::is_ending() {
  if (!ending_.valid()) return false;
  if (!ending_.poll()) return true;
  if (auto ended = ending_.take(); !ended) return fail(std::move(ended).error());
  return false;
}

DATAFLUX_INLINE result<bool> shard_writer_state::open_next() {
  if (open_) return true;
  if (!opening_.valid()) {
    auto name = pattern.name(number_);
    if (!name) {
      name_.clear();  // it is not the last one that fails
      return fail(std::move(name).error());
    }
    name_ = *std::move(name);
    upload_request upload{
        .bucket = request.bucket,
        .object = name_,
        .attributes = {.content_type = "application/x-tar"},
        .if_generation_match = 0,
        .advice_if_it_exists = "another writer has made this shard: give each its own rank",
        .limits = {.stop = request.stop}};
    if (request.bytes != 0 && request.bytes <= largest_shard_hint) {
      upload.size_hint = request.bytes;
    }
    call_limits limits{.stop = request.stop};
    opening_ = start_operation<opened_shard>(limits, [&](auto done) {
      std::make_shared<shard_open_call>(context, std::move(upload), limits, std::move(done))
          ->start(request.bucket, name_);
    });
    static_cast<void>(opening_.on_ready([news = news] { news->ring(); }));
  }
  if (!opening_.poll()) {
    waits_ = wait::opening;
    return false;
  }
  auto opened = opening_.take();
  if (!opened) return fail(std::move(opened).error());
  open_.emplace(std::move(opened->writer));
  sidecar_ = opened->sidecar;
  return true;
}

DATAFLUX_INLINE result<bool> shard_writer_state::write_pieces() {
  while (!pieces_.empty()) {
    const bytes_view rest = pieces_.front().subspan(in_piece_);
    const auto some = open_->try_write(rest);
    if (!some) return fail(some.error());
    in_piece_ += *some;
    if (*some < rest.size()) {
      waits_ = wait::room;
      return false;
    }
    pieces_ = pieces_.subspan(1);
    in_piece_ = 0;
  }
  return true;
}

DATAFLUX_INLINE result<bool> shard_writer_state::write_end() {
  if (!ending_begun_) {
    ending_begun_ = true;
    pieces_ = {&shard_packer_end, 1};
  }
  return write_pieces();
}

/// The open shard's upload, which may outlive this writer and the queues that wait for its room.
DATAFLUX_INLINE std::optional<checkpoint_writer> shard_writer_state::moved_out() {
  if (open_) interruptible::ring(*open_);
  return std::exchange(open_, std::nullopt);
}

DATAFLUX_INLINE result<shard_ending> shard_writer_state::packed_ending(shard_end why) {
  const packed_shard packed = packer_.finish();
  shard_ending ending;
  ending.bucket = request.bucket;
  ending.shard = {name_, packed.layout.hashes.size(), packed.size, packed.crc32c, 0, why};
  auto sidecar = encode_sidecar(context.store().traits().scheme, request.bucket, name_, packed);
  if (!sidecar) return std::move(sidecar).error();
  ending.sidecar = *std::move(sidecar);
  ending.sidecar_generation = sidecar_;
  ending.writer = moved_out();
  ending_begun_ = false;
  number_ += request.ranks;
  return ending;
}

DATAFLUX_INLINE result<bool> shard_writer_state::try_end() {
  if (failure_ || finished) return true;
  if (taken_) {
    return error(errc::failed_precondition,
                 "the last sample is not written whole; write it again, or abort");
  }
  no_more_ = true;
  return open_ ? write_end() : true;
}

DATAFLUX_INLINE result<shard_ending> shard_writer_state::last_ending() {
  if (finished) {
    return error(errc::failed_precondition, "the writer has been finished or aborted");
  }
  auto ended = try_end();
  if (!ended) return std::move(ended).error();
  if (!*ended) {
    return error(errc::failed_precondition,
                 "the end of the last shard has no room yet; call try_end() until it is written");
  }
  if (!failure_ && open_) {
    auto packed = packed_ending(shard_end::finished);
    if (packed) {
      finished = true;
      packed->last = true;
      return packed;
    }
    fail(std::move(packed).error());
  }
  auto rest = giving_up();
  rest.aborted = false;
  rest.last = true;
  rest.discarded = failure_;
  return rest;
}

DATAFLUX_INLINE shard_ending shard_writer_state::giving_up() {
  finished = true;
  if (opening_.valid()) opening_.cancel();
  shard_ending ending;
  ending.bucket = request.bucket;
  ending.shard.name = name_;
  ending.writer = moved_out();
  ending.aborted = true;
  return ending;
}

DATAFLUX_INLINE void shard_writer_state::start_end(
    shard_ending ending, const call_limits& limits,
    object_store::completion<shard_writer_summary> done) {
  const std::string name = ending.shard.name;
  std::make_shared<shard_end_call>(context, chain, std::move(ending), limits, std::move(done))
      ->start(request.bucket, name);
}

DATAFLUX_INLINE void shard_writer_state::notify(completion_queue& queue, std::uint64_t tag) {
  if (failure_ || finished || waits_ == wait::nothing) return queue.push({tag, errc::ok});
  if (waits_ == wait::room) return open_->notify(queue, tag);
  const std::scoped_lock lock(news->mutex);
  news->waits.add(queue, tag);
  const bool there = waits_ == wait::opening ? !opening_.valid() || opening_.poll()
                                             : !ending_.valid() || ending_.poll();
  if (there) news->waits.ring();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
