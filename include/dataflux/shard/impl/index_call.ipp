#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/shard/detail/index_call.hpp>
#include <dataflux/store/detail/file_step.hpp>
#include <dataflux/transfer/detail/ranged_read.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Of one read, and of the layouts that wait for the shards before them.
inline constexpr std::uint64_t least_index_read = std::uint64_t{1} << 20U;
inline constexpr std::uint64_t most_index_read = std::uint64_t{64} << 20U;
inline constexpr std::uint64_t index_layout_memory = std::uint64_t{256} << 20U;
/// Shards of one step on a thread for files.
inline constexpr std::size_t index_step = 256;

inline std::uint64_t bytes_of(const shard_layout& layout) noexcept {
  return 24 * layout.hashes.size() + 16 * layout.member_sizes.size() + layout.field_bytes + 1024;
}

inline indexing_rules rules_of(const index_shards_request& r) noexcept {
  return {.reading = r.reading,
          .grouping = r.grouping,
          .skip_from = or_default(r.skip_from, std::uint64_t{1} << 20U)};
}

inline shard_index_description describe(const index_shards_request& r) {
  const shard_rules& reading = r.reading;
  const grouping_rules& grouping = r.grouping;
  const auto either = [](bool first, const char* a, const char* b) { return first ? a : b; };
  return {
      .bucket = r.bucket,
      .taken = std::chrono::time_point_cast<timestamp::duration>(std::chrono::system_clock::now()),
      .options = {
          {"concatenated",
           either(reading.concatenated == concatenated_rule::error, "error", "read")},
          {"trailing", either(reading.trailing == trailing_rule::error, "error", "ignore")},
          {"damaged", either(reading.damaged == damaged_rule::error, "error", "end")},
          {"keep_case", either(grouping.keep_case, "true", "false")},
          {"strip_dot_slash", either(grouping.strip_dot_slash, "true", "false")},
          {"repeated", either(grouping.repeated == repeated_rule::error, "error", "keep_first")},
          {"skip_from", std::to_string(rules_of(r).skip_from)}}};
}

DATAFLUX_INLINE index_call::index_call(const transfer_context& context,
                                       index_shards_request request, completion done)
    : call_coordinator(context.store(), context.strand(), request.limits, std::move(done)),
      context_(context),
      request_(std::move(request)),
      at_once_(or_default(request_.parallelism, 64U)),
      encoder_(describe(request_)) {
  file_.emplace(request_.path);
}

DATAFLUX_INLINE void index_call::begin() {
  if (!watch_stop()) return stop_asked();
  watch_deadline();
  summary_.shards = request_.shards.size();
  for (const object_row row : request_.shards) {
    if (row.generation == 0) {
      return fail(of_shard(row, error(errc::invalid_argument,
                                      "the shard has no generation, by which it would be read; "
                                      "index what was listed")));
    }
  }
  // Before anything is read, so that a wrong path is told at once.
  writing_ = true;
  one_more();
  by_file_step(
      shared_from_this(), [](index_call& self) { return self.file_->create(); },
      [](index_call& here, std::optional<error> why) {
        here.one_less();
        here.writing_ = false;
        if (here.failed()) return;
        if (why) return here.fail(*std::move(why));
        here.start_more();
        here.write();
      });
}

DATAFLUX_INLINE void index_call::start_more() {
  while (!failed() && next_ < request_.shards.size() && reading_ < at_once_ &&
         (ready_bytes_ < index_layout_memory || reading_ == 0)) {
    ++reading_;
    const std::size_t number = next_++;
    read(std::make_shared<work>(number, request_.shards[number], rules_of(request_)));
  }
}

DATAFLUX_INLINE void index_call::read(work_ptr of) {
  transfer_state& transfers = *context_.state();
  const std::uint64_t share = transfers.options.memory_cap / at_once_;
  const auto next = of->indexer.wanted(std::clamp(share, least_index_read, most_index_read));
  if (!next) return through(*of);
  const auto length = static_cast<std::size_t>(next->length);
  if (of->memory.capacity() < length) {
    of->memory = {};
    of->memory = pool_.acquire(length);
  }
  const bytes_span into = of->memory.span().first(length);
  ranged_read_request what{.bucket = request_.bucket,
                           .object = std::string(of->row.name),
                           .offset = next->offset,
                           .generation = of->row.generation,
                           .crc32c = of->row.crc32c,
                           .slice = transfers.options.slice,
                           .owner = weak_from_this(),
                           .limits = limits()};
  start_ranged_read(transfers.engine, std::move(what), into,
                    then<ranged_read_summary>([of = std::move(of), asked = *next](
                                                  index_call& self, const auto& outcome) mutable {
                      self.arrived(std::move(of), asked, outcome);
                    }));
}

DATAFLUX_INLINE error index_call::of_shard(const object_row& row, const error& why) const {
  error named = why;
  named.with_bucket(request_.bucket).with_object(row.name);
  return named;
}

DATAFLUX_INLINE void index_call::arrived(work_ptr of, byte_extent asked,
                                         const result<ranged_read_summary>& outcome) {
  if (failed()) return;
  if (!outcome) return fail(outcome.error());
  summary_.bytes_read += asked.length;
  const auto length = static_cast<std::size_t>(asked.length);
  if (auto good = of->indexer.take(of->memory.span().first(length)); !good) {
    return fail(of_shard(of->row, good.error()));
  }
  read(std::move(of));
}

DATAFLUX_INLINE void index_call::through(work& of) {
  auto layout = of.indexer.finish(of.row.crc32c);
  if (!layout) return fail(of_shard(of.row, layout.error()));
  --reading_;
  of.memory = {};
  ready_bytes_ += bytes_of(*layout);
  sum_up(of.row, *layout);
  ready_.emplace(of.number, *std::move(layout));
  start_more();
  write();
}

DATAFLUX_INLINE void index_call::sum_up(const object_row& row, const shard_layout& layout) {
  summary_.samples += layout.hashes.size();
  summary_.members += layout.member_sizes.size();
  if (layout.checksummed) ++summary_.checksummed;
  summary_.bytes += row.size;
  summary_.counts += layout.counts;
  summary_.groups += layout.groups;
}

/// What is there and next in order, in one step; at the end the rest of the file.
DATAFLUX_INLINE void index_call::write() {
  if (writing_ || failed()) return;
  const std::size_t from = next_write_;
  const auto batch = std::make_shared<std::vector<shard_layout>>();
  while (batch->size() < index_step && !ready_.empty() && ready_.begin()->first == next_write_) {
    batch->push_back(std::move(ready_.begin()->second));
    ready_.erase(ready_.begin());
    ++next_write_;
  }
  const bool last = next_write_ == request_.shards.size();
  if (batch->empty() && !last) return;
  writing_ = true;
  one_more();
  by_file_step(
      shared_from_this(),
      [from, batch, last](index_call& self) { return self.write_step(from, *batch, last); },
      [batch, last](index_call& here, std::optional<error> why) {
        if (!why && here.request_.progress) {
          here.request_.progress(here.next_write_, here.summary_.bytes_read);
        }
        // It is in place, whatever was asked for meanwhile.
        if (last && !why) here.complete(here.summary_);
        here.one_less();
        here.wrote(*batch, std::move(why));
      });
}

DATAFLUX_INLINE result<void> index_call::write_step(std::size_t from,
                                                    const std::vector<shard_layout>& batch,
                                                    bool last) {
  std::string out;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    out.clear();
    const object_row row = request_.shards[from + i];
    if (auto good = encoder_.add(row, batch[i], out); !good) return of_shard(row, good.error());
    if (auto good = file_->write(out); !good) return good;
  }
  if (!last) return {};
  out.clear();
  if (auto good = encoder_.end(out); !good) return good;
  if (auto good = file_->write(out); !good) return good;
  if (requests_stopped()) return error(errc::cancelled, "the call was stopped");
  return file_->put_in_place();
}

DATAFLUX_INLINE void index_call::wrote(const std::vector<shard_layout>& batch,
                                       std::optional<error> why) {
  for (const shard_layout& each : batch) ready_bytes_ -= bytes_of(each);
  writing_ = false;
  if (failed() || completed()) return;
  if (why) return fail(*std::move(why));
  start_more();
  write();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
