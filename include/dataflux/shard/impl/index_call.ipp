#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/shard/detail/index_call.hpp>
#include <dataflux/shard/detail/index_rules.hpp>
#include <dataflux/shard/detail/shard_plan.hpp>
#include <dataflux/store/detail/file_step.hpp>
#include <dataflux/store/detail/own_service.hpp>
#include <dataflux/transfer/detail/ranged_read.hpp>
#include <dataflux/transfer/detail/told_rows.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Shards that are read at the same time.
inline constexpr std::uint32_t usual_readers = 64;
/// Of one read.
inline constexpr std::uint64_t least_index_read = std::uint64_t{1} << 20U;
inline constexpr std::uint64_t most_index_read = std::uint64_t{64} << 20U;
/// A part that is larger is not read: its shards are.
inline constexpr std::uint64_t most_part = std::uint64_t{1} << 30U;
/// Shards that wait for their turn.
inline constexpr std::size_t most_ready = 8192;

inline std::uint64_t bytes_of(const shard_layout& layout) noexcept {
  return 24 * layout.hashes.size() + 16 * layout.member_sizes.size() + layout.field_bytes + 1024;
}

inline indexing_rules rules_of(const index_shards_request& request) noexcept {
  return {.reading = request.reading,
          .grouping = request.grouping,
          .skip_from = or_default(request.skip_from, std::uint64_t{1} << 20U)};
}

inline shard_index_description describe(const index_shards_request& request) {
  return {
      .bucket = request.bucket,
      .taken = std::chrono::time_point_cast<timestamp::duration>(std::chrono::system_clock::now()),
      .options = options_of(rules_of(request))};
}

DATAFLUX_INLINE index_work index_work::of(index_shards_request request) {
  index_work work;
  work.rules = rules_of(request);
  work.description = describe(request);
  work.to_file = true;
  work.journal = true;
  work.request = std::move(request);
  return work;
}

DATAFLUX_INLINE index_call::index_call(const transfer_context& context, index_work work,
                                       completion done)
    : call_coordinator(context.store(), context.strand(), work.request.limits, std::move(done)),
      context_(context),
      work_(std::move(work)),
      at_once_(or_default(work_.request.parallelism, usual_readers)),
      parts_(work_.parts),
      description_(work_.description) {
  if (!work_.expected) description_.scheme = context.store().traits().scheme;
}

DATAFLUX_INLINE void index_call::begin() {
  if (work_.expected) {
    auto own = check_own_service(store(), description_.scheme, "index");
    if (!own) return fail(std::move(own).error());
  }
  if (!watch_stop()) return stop_asked();
  watch_deadline();
  if (work_.expected || store().traits().crc32c_everywhere) return begin_file();
  // A listing without checksums: then each shard is asked for its own.
  start_told_rows(
      store(), strand(),
      {work_.request.bucket, work_.request.shards.slice(0, work_.request.shards.size())}, limits(),
      then<object_columns>([](index_call& self, result<object_columns> told) {
        if (self.failed()) return;
        if (!told) return self.fail(std::move(told).error());
        self.told_ = *std::move(told);
        self.begin_file();
      }));
}

DATAFLUX_INLINE void index_call::begin_file() {
  // Before anything is read, so that a wrong path is told at once.
  writing_ = true;
  one_more();
  by_file_step(
      shared_from_this(), [](index_call& self) { return self.prepare(); },
      [](index_call& here, std::optional<error> why) {
        here.one_less();
        here.writing_ = false;
        if (here.failed()) return;
        if (why) return here.fail(*std::move(why));
        here.go_on();
      });
}

/// With the checksums of those that are still what was listed.
DATAFLUX_INLINE object_columns index_call::rows_told() const {
  const object_columns& listed = work_.request.shards;
  if (told_.empty()) return listed.slice(0, listed.size());
  object_columns out;
  auto told = told_.begin();
  for (object_row row : listed) {
    // One that is gone was not told of.
    if (told != told_.end() && (*told).name == row.name) {
      if (!row.crc32c && row.generation == (*told).generation) row.crc32c = (*told).crc32c;
      ++told;
    }
    out.append(row.name, row.size, row.generation, row.crc32c);
  }
  return out;
}

DATAFLUX_INLINE result<void> index_call::prepare() {
  if (work_.expected) {
    auto rows = work_.expected->shard_rows();
    if (!rows) return std::move(rows).error();
    rows_ = *std::move(rows);
  } else {
    rows_ = rows_told();
  }
  plan();
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    if (row_of(i).generation != 0) continue;
    return of_shard(row_of(i), error(errc::invalid_argument,
                                     "the shard has no generation, by which it would be read; "
                                     "index what was listed"));
  }
  if (work_.to_file) {
    file_.emplace(work_.request.path);
    if (auto good = file_->create(); !good) return good;
  }
  if (auto good = find_known(); !good) return good;
  encoder_.emplace(description_);
  return {};
}

DATAFLUX_INLINE void index_call::plan() {
  const std::vector<planned_shard> shards = plan_shards(rows_);
  outcome_.made.orphans = orphans_of(rows_, shards);
  for (const planned_shard& each : shards) {
    plan_.push_back({.row = each.row});
    if (each.sidecar == planned_shard::none) continue;
    const object_row part = rows_[each.sidecar];
    if (part.generation == 0) continue;
    plan_.back().part = parts_.size();
    parts_.push_back({work_.request.bucket, std::string(part.name), part.generation, part.size,
                      part.crc32c, plan_.size() - 1, 1});
  }
  for (std::size_t i = 0; i < work_.parts.size(); ++i) {
    for (std::size_t k = 0; k < parts_[i].count; ++k) plan_.at(parts_[i].first + k).part = i;
  }
}

DATAFLUX_INLINE result<void> index_call::find_known() {
  if (work_.journal) {
    journal_.emplace(work_.request.path);
    auto left = journal_->open(description_);
    if (!left) return std::move(left).error();
    if (!left->empty()) description_.taken = left->front().description().taken;
    in_journal_ = left->size();
    for (shard_index& part : *left) {
      if (auto good = known_.add(std::move(part)); !good) return good;
    }
  }
  for (const shard_index& part : work_.request.parts) {
    if (!(part.grouping() == work_.rules.grouping)) {
      return error(errc::invalid_argument,
                   "a part was indexed by other rules of grouping; index it by the same");
    }
    if (auto good = known_.add(part); !good) return good;
  }
  known_.sort();
  for (std::size_t i = 0; i < plan_.size(); ++i) plan_[i].known = known_.find(row_of(i));
  return {};
}

DATAFLUX_INLINE bool index_call::may_begin() const noexcept {
  if (reading_ == 0) return true;
  return reading_ < at_once_ && ready_bytes_ < work_.layout_memory && ready_.size() < most_ready;
}

DATAFLUX_INLINE void index_call::start_more() {
  while (!failed() && may_begin()) {
    if (!missed_.empty()) {
      const std::size_t number = missed_.front();
      missed_.pop_front();
      begin_shard(number);
      continue;
    }
    if (next_ == plan_.size()) return;
    const planned& p = plan_[next_];
    if (p.known) {
      if (ready_.size() >= most_ready) return;
      ready_.emplace(next_, finished{.number = next_,
                                     .part = known_.part(*p.known),
                                     .place = p.known->shard,
                                     .in_journal = p.known->part < in_journal_});
      ++next_;
    } else if (p.part != no_part) {
      read_part(p.part);
    } else {
      begin_shard(next_++);
    }
  }
}

DATAFLUX_INLINE void index_call::begin_shard(std::size_t number) {
  ++reading_;
  read(std::make_shared<reading>(number, row_of(number), work_.rules));
}

DATAFLUX_INLINE void index_call::read_part(std::size_t number) {
  const index_part& part = parts_[number];
  next_ = std::max(next_, part.first + part.count);
  if (part.size == 0 || part.size > most_part) return took_part(number, nullptr);
  ++reading_;
  const auto memory = std::make_shared<buffer>(pool_.acquire(static_cast<std::size_t>(part.size)));
  ready_bytes_ += part.size;
  ranged_read_request what{.bucket = part.bucket,
                           .object = part.object,
                           .generation = part.generation,
                           .crc32c = part.crc32c,
                           .slice = context_.state()->options.slice,
                           .owner = weak_from_this(),
                           .limits = limits()};
  start_ranged_read(
      context_.state()->engine, std::move(what),
      memory->span().first(static_cast<std::size_t>(part.size)),
      then<ranged_read_summary>([number, memory](index_call& self, const auto& outcome) {
        if (self.failed()) return;
        --self.reading_;
        self.ready_bytes_ -= self.parts_[number].size;
        // One that is gone meanwhile, or damaged, is of no use: its shards are read.
        const bool none = !outcome && (outcome.error().code() == errc::not_found ||
                                       outcome.error().code() == errc::data_loss);
        if (!outcome && !none) return self.fail(outcome.error());
        self.took_part(number, none ? nullptr : memory);
        self.go_on();
      }));
}

DATAFLUX_INLINE void index_call::took_part(std::size_t number, std::shared_ptr<buffer> memory) {
  const index_part& at = parts_[number];
  known_shards known;
  if (memory != nullptr) {
    const bytes_view bytes = memory->span().first(static_cast<std::size_t>(at.size));
    auto part = shard_index::over(bytes, std::move(memory), at.object);
    if (part && part->grouping() == work_.rules.grouping && known.add(*std::move(part))) {
      known.sort();
    }
  }
  for (std::size_t i = at.first; i < at.first + at.count; ++i) {
    // One that was known before is on its way, or written.
    if (plan_[i].known) continue;
    const auto found = known.find(row_of(i));
    if (!found) {
      missed_.push_back(i);
      continue;
    }
    const std::uint64_t share = at.size / at.count;
    ready_bytes_ += share;
    ready_.emplace(
        i,
        finished{.number = i, .part = known.part(*found), .place = found->shard, .memory = share});
  }
}

DATAFLUX_INLINE void index_call::read(reading_ptr of) {
  transfer_state& transfers = *context_.state();
  const std::uint64_t share = transfers.options.memory_cap / or_default(work_.readers, at_once_);
  const auto next = of->indexer.wanted(std::clamp(share, least_index_read, most_index_read));
  if (!next) return through(*of);
  const auto length = static_cast<std::size_t>(next->length);
  if (of->memory.capacity() < length) {
    of->memory = {};
    of->memory = pool_.acquire(length);
  }
  const bytes_span into = of->memory.span().first(length);
  ranged_read_request what{.bucket = work_.request.bucket,
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
  name_store(named);
  named.with_bucket(work_.request.bucket).with_object(row.name);
  return named;
}

DATAFLUX_INLINE void index_call::arrived(reading_ptr of, byte_extent asked,
                                         const result<ranged_read_summary>& outcome) {
  if (failed()) return;
  if (!outcome) {
    const errc code = outcome.error().code();
    if (work_.expected && code == errc::not_found) return not_there(of, outcome.error());
    if (work_.expected && (code == errc::data_loss || code == errc::out_of_range)) {
      return found_wrong(*of, shard_fault::damaged, outcome.error());
    }
    return fail(outcome.error());
  }
  bytes_read_ += asked.length;
  const auto length = static_cast<std::size_t>(asked.length);
  if (auto good = of->indexer.take(of->memory.span().first(length)); !good) {
    return found_wrong(*of, shard_fault::damaged, of_shard(of->row, good.error()));
  }
  read(std::move(of));
}

DATAFLUX_INLINE void index_call::through(reading& of) {
  auto layout = of.indexer.finish(of.row.crc32c);
  if (!layout) return found_wrong(of, shard_fault::damaged, of_shard(of.row, layout.error()));
  --reading_;
  of.memory = {};
  const std::uint64_t memory = bytes_of(*layout);
  ready_bytes_ += memory;
  ready_.emplace(of.number,
                 finished{.number = of.number, .layout = *std::move(layout), .memory = memory});
  go_on();
}

/// Where nothing is compared a shard that is wrong fails the call.
DATAFLUX_INLINE void index_call::found_wrong(const reading& of, shard_fault fault,
                                             const error& why) {
  if (fault == shard_fault::damaged) {
    context_.state()->engine.forget_object(work_.request.bucket, of.row.name, of.row.generation);
  }
  if (!work_.expected) return fail(why);
  --reading_;
  ready_.emplace(of.number,
                 finished{.number = of.number,
                          .wrong = wrong_shard{of.number, std::string(of.row.name), fault, why}});
  go_on();
}

/// Its generation is gone: is another object there?
DATAFLUX_INLINE void index_call::not_there(const reading_ptr& of, const error& why) {
  store().start(
      stat_request{.bucket = work_.request.bucket,
                   .object = std::string(of->row.name),
                   .fields = metadata_fields::basic,
                   .limits = limits()},
      then<object_metadata>([of, why](index_call& self, const result<object_metadata>& found) {
        if (self.failed()) return;
        if (found) {
          const error other{errc::failed_precondition,
                            "another object has this name since it was indexed: generation " +
                                std::to_string(found->generation) + "; index the shards again"};
          return self.found_wrong(*of, shard_fault::changed, self.of_shard(of->row, other));
        }
        if (found.error().code() != errc::not_found) return self.fail(found.error());
        self.found_wrong(*of, shard_fault::deleted, why);
      }));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
