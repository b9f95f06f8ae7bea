#pragma once

#include <dataflux/shard/detail/shard_calls.hpp>
#include <dataflux/shard/detail/shard_sidecar.hpp>
#include <dataflux/store/detail/unmet_condition.hpp>
#include <dataflux/transfer/detail/list_all.hpp>

#include <chrono>
#include <map>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Entries that are read at a time, and how large one may be.
inline constexpr std::size_t surveyed_at_once = 16;
inline constexpr std::size_t largest_sidecar = std::size_t{1} << 30U;
/// As the destructor of a writer waits.
inline constexpr duration settling_limit = std::chrono::seconds(5);

/// Nothing is there, or nobody may see it.
inline bool is_unseen(const error& why) noexcept {
  return why.code() == errc::not_found || why.code() == errc::permission_denied;
}

// ---- shard_open_call

DATAFLUX_INLINE shard_open_call::shard_open_call(const transfer_context& context,
                                                 upload_request request, const call_limits& limits,
                                                 completion done)
    : call_coordinator(context.store(), context.strand(), limits, std::move(done)),
      context_(context),
      request_(std::move(request)) {}

DATAFLUX_INLINE void shard_open_call::begin() {
  if (!watch_stop()) return stop_asked();
  const auto ask = [this](const std::string& object) {
    return stat_request{.bucket = request_.bucket,
                        .object = object,
                        .fields = metadata_fields::basic,
                        .limits = limits()};
  };
  store().start(
      ask(request_.object),
      then<object_metadata>([](shard_open_call& self, const auto& shard) { self.found(shard); }));
  store().start(ask(request_.object + std::string(sidecar_suffix)),
                then<object_metadata>([](shard_open_call& self, const auto& sidecar) {
                  self.found_sidecar(sidecar);
                }));
}

DATAFLUX_INLINE void shard_open_call::found(const result<object_metadata>& shard) {
  if (shard) {
    error why(errc::failed_precondition,
              "the shard is there already, and shards are never replaced; resume behind it, or "
              "choose another pattern or first number");
    return fail(std::move(why.with_bucket(request_.bucket).with_object(request_.object)));
  }
  if (!is_unseen(shard.error())) fail(shard.error());
}

DATAFLUX_INLINE void shard_open_call::found_sidecar(const result<object_metadata>& sidecar) {
  if (sidecar) {
    sidecar_ = sidecar->generation;
  } else if (!is_unseen(sidecar.error())) {
    fail(sidecar.error());
  }
}

/// The upload is opened for longer than this call, and does not hear of its stop: where it comes
/// later nobody takes it.
DATAFLUX_INLINE void shard_open_call::stop_asked() {
  call_coordinator::stop_asked();
  if (failed() && opening_) complete(*failure_);
}

/// Both were looked for; or the upload was opened, or there is a failure.
DATAFLUX_INLINE void shard_open_call::idle() {
  if (failed() || opening_) return call_coordinator::idle();
  opening_ = true;
  checkpoint_writer::start_open(
      context_, std::move(request_),
      then<checkpoint_writer>([](shard_open_call& self, result<checkpoint_writer> opened) {
        if (!opened) return self.fail(std::move(opened).error());
        self.complete(opened_shard{*std::move(opened), self.sidecar_});
      }));
}

// ---- shard_end_call

DATAFLUX_INLINE shard_end_call::shard_end_call(const transfer_context& context,
                                               std::shared_ptr<shard_chain> chain,
                                               shard_ending ending, const call_limits& limits,
                                               completion done)
    : call_coordinator(context.store(), context.strand(), limits, std::move(done)),
      chain_(std::move(chain)),
      ending_(std::move(ending)) {}

DATAFLUX_INLINE void shard_end_call::begin() {
  if (!watch_stop()) return stop_asked();
  if (!ending_.aborted) return take_turn();
  if (chain_->busy) later([](shard_end_call& self) { self.stop_before(); });
  abort();
}

DATAFLUX_INLINE void shard_end_call::stop_before() {
  const auto before = chain_->current.lock();
  if (before != nullptr && before.get() != this) before->stop_asked();
}

DATAFLUX_INLINE void shard_end_call::take_turn() {
  if (!chain_->busy) return go_on();
  chain_->waiting.emplace_back(
      [self = shared_from_this()] { self->make_step([](shard_end_call& here) { here.go_on(); }); });
}

/// What is stopped cleans up for a while, and an abort that is stopped goes on without its caller.
DATAFLUX_INLINE void shard_end_call::stop_asked() {
  call_coordinator::stop_asked();
  if (completed()) return;
  if (ending_.aborted) {
    stop_before();
    return end(*failure_);
  }
  later([](shard_end_call& self) { self.end(*self.failure_); });
}

template <class Step>
void shard_end_call::later(Step step) {
  if (late_ != timer_id::none) return;
  late_ = strand().at(deadline_after(strand().now(), settling_limit),
                      [self = shared_from_this(), step] {
                        self->late_ = timer_id::none;
                        self->make_step(step);
                      });
}

DATAFLUX_INLINE void shard_end_call::go_on() {
  if (completed()) return chain_->pass_on();
  if (failed()) return;  // its own clean-up ends it, and passes the turn on
  mine_ = true;
  chain_->busy = true;
  chain_->current = weak_from_this();
  if (unremoved_) return fail(*unremoved_);
  if (ending_.aborted) return end(shard_writer_summary{});
  if (ending_.discarded) return fail(*ending_.discarded);
  if (chain_->failure) return fail(*chain_->failure);
  if (ending_.writer) return write_sidecar();
  end(summary());
}

/// Of all shards, for the last one.
DATAFLUX_INLINE shard_writer_summary shard_end_call::summary() const {
  shard_writer_summary all;
  if (!ending_.last) return all;
  all.written = chain_->written;
  for (const written_shard& each : all.written) {
    all.samples += each.samples;
    all.bytes += each.bytes;
  }
  return all;
}

DATAFLUX_INLINE void shard_end_call::abort() {
  if (!ending_.writer) return take_turn();
  auto writer = std::move(ending_.writer);
  ending_.writer.reset();
  writer->start_abort(then<void>([](shard_end_call& self, const result<void>& removed) {
    if (!removed) self.unremoved_ = removed.error();
    if (!self.completed()) self.take_turn();
  }));
}

/// Its condition is that of the shard, too: of two writers one fails here, before either commits.
DATAFLUX_INLINE void shard_end_call::write_sidecar() {
  store().start(insert_request{.bucket = ending_.bucket,
                               .object = ending_.shard.name + std::string(sidecar_suffix),
                               .data = as_bytes(ending_.sidecar),
                               .conditions = {.if_generation_match = ending_.sidecar_generation},
                               .limits = limits()},
                then<object_metadata>([](shard_end_call& self, const auto& made) {
                  if (made) return self.commit();
                  error why = made.error();
                  if (detail::is_unmet_condition(why)) {
                    why.with_message("another writer writes this shard: " + why.message());
                  }
                  self.fail(std::move(why));
                }));
}

DATAFLUX_INLINE void shard_end_call::commit() {
  if (failed()) return;
  auto writer = std::move(ending_.writer);
  ending_.writer.reset();
  writer->start_commit(
      then<committed_object>([](shard_end_call& self, const result<committed_object>& made) {
        if (!made) return self.fail(made.error());
        self.committed(*made);
      }),
      limits());
}

DATAFLUX_INLINE void shard_end_call::committed(const committed_object& made) {
  if (made.object.crc32c && *made.object.crc32c != ending_.shard.crc32c) {
    error why(errc::data_loss,
              "the shard's bytes are not those of its index entry: the memory of a sample has "
              "changed while it was written; remove both");
    return fail(std::move(why.with_bucket(ending_.bucket).with_object(ending_.shard.name)));
  }
  ending_.shard.generation = made.object.generation;
  ++chain_->whole_shards;
  chain_->whole_samples += ending_.shard.samples;
  chain_->written.push_back(std::move(ending_.shard));
  end(summary());
}

DATAFLUX_INLINE void shard_end_call::idle() {
  if (!failed() || completed()) return;
  if (!ending_.writer) return end(*failure_);
  auto writer = std::move(ending_.writer);
  ending_.writer.reset();
  writer->start_abort(then<void>([](shard_end_call& self, const result<void>& removed) {
    if (removed) return;
    error& why = *self.failure_;
    why.with_message(why.message() + "; " + removed.error().message());
  }));
}

DATAFLUX_INLINE void shard_end_call::end(result<shard_writer_summary> outcome) {
  if (completed()) return;
  if (late_ != timer_id::none) strand().cancel(std::exchange(late_, timer_id::none));
  const auto chain = chain_;
  if (mine_) {
    chain->busy = false;
    if (!outcome && !chain->failure) chain->failure = outcome.error();
  }
  complete(std::move(outcome));
  chain->pass_on();
}

// ---- shard_survey

struct shard_survey::entry_read {
  explicit entry_read(const buffer_pool& pool) : sink(pool) {
    sink.reset(largest_sidecar, collecting_sink::excess::refuse);
  }
  collecting_sink sink;
};

DATAFLUX_INLINE shard_survey::shard_survey(const transfer_context& context,
                                           shard_writer_request request, shard_pattern pattern,
                                           const call_limits& limits, completion done)
    : call_coordinator(context.store(), context.strand(), limits, std::move(done)),
      context_(context),
      request_(std::move(request)),
      pattern_(std::move(pattern)) {}

DATAFLUX_INLINE void shard_survey::begin() {
  if (!watch_stop()) return stop_asked();
  start_list_all(
      store(), strand(),
      list_page_request{.bucket = request_.bucket, .prefix = pattern_.front(), .limits = limits()},
      then<listed_rows>([](shard_survey& self, result<listed_rows> found) {
        if (!found) return self.fail(std::move(found).error());
        self.take_rows(std::move(found->rows));
      }));
}

DATAFLUX_INLINE error shard_survey::named(error why, std::string_view object) const {
  return std::move(why.with_bucket(request_.bucket).with_object(object));
}

/// Shards appear in order: one that is missing before another was removed, or never was.
DATAFLUX_INLINE void shard_survey::take_rows(object_columns rows) {
  rows_ = std::move(rows);
  std::map<std::uint64_t, std::size_t> shards;
  std::map<std::uint64_t, std::size_t> sidecars;
  const std::uint64_t begin = request_.first + request_.rank;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    std::string_view name = rows_[row].name;
    const bool beside = name.ends_with(sidecar_suffix);
    if (beside) name.remove_suffix(sidecar_suffix.size());
    const auto number = pattern_.number_of(name);
    if (!number || *number < begin || (*number - begin) % request_.ranks != 0) continue;
    (beside ? sidecars : shards).emplace(*number, row);
  }
  for (const auto& [number, row] : shards) {
    const std::uint64_t wanted = begin + shards_.size() * request_.ranks;
    if (number != wanted) {
      return fail(named(error(errc::failed_precondition,
                              "the shard is there, and number " + std::to_string(wanted) +
                                  " before it is not; write the data set anew"),
                        rows_[row].name));
    }
    const auto beside = sidecars.find(number);
    if (beside == sidecars.end()) {
      return fail(named(error(errc::failed_precondition,
                              "the shard has no index entry beside it, so that nobody knows its "
                              "samples; a shard writer did not make it"),
                        rows_[row].name));
    }
    shards_.push_back(row);
    sidecars_.push_back(beside->second);
  }
  read_more();
}

DATAFLUX_INLINE void shard_survey::read_more() {
  if (failed() || completed()) return;
  while (next_ < shards_.size() && reading_ < surveyed_at_once) read(next_++);
  if (reading_ == 0) complete(found_);
}

DATAFLUX_INLINE void shard_survey::read(std::size_t shard) {
  ++reading_;
  const auto into = std::make_shared<entry_read>(pool_);
  const object_row row = rows_[sidecars_[shard]];
  store().start(read_request{.bucket = request_.bucket,
                             .object = std::string(row.name),
                             .generation = row.generation,
                             .limits = limits()},
                into->sink,
                then<read_summary>([into, shard](shard_survey& self, const auto& outcome) {
                  self.arrived(shard, *into, outcome);
                }));
}

DATAFLUX_INLINE void shard_survey::arrived(std::size_t shard, const entry_read& read,
                                           const result<read_summary>& outcome) {
  --reading_;
  if (failed()) return;
  if (!outcome) return fail(outcome.error());
  const object_row row = rows_[shards_[shard]];
  const auto samples = samples_of_sidecar(read.sink.bytes(), row);
  if (!samples) return fail(named(samples.error(), row.name));
  ++found_.shards;
  found_.samples += *samples;
  found_.bytes += row.size;
  read_more();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
