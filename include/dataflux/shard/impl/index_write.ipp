#pragma once

#include <dataflux/shard/detail/index_call.hpp>
#include <dataflux/shard/detail/layout_difference.hpp>
#include <dataflux/store/detail/file_step.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Shards of one step on a thread for files.
inline constexpr std::size_t index_step = 256;

/// What is there and next in order, in one step; at the end the rest of the file.
DATAFLUX_INLINE void index_call::write() {
  if (writing_ || failed()) return;
  const auto batch = std::make_shared<std::vector<finished>>();
  while (batch->size() < index_step && !ready_.empty() && ready_.begin()->first == next_write_) {
    batch->push_back(std::move(ready_.begin()->second));
    ready_.erase(ready_.begin());
    ++next_write_;
  }
  const bool last = next_write_ == plan_.size();
  if (batch->empty() && !last) return;
  writing_ = true;
  one_more();
  by_file_step(
      shared_from_this(), [batch, last](index_call& self) { return self.write_step(*batch, last); },
      [batch, last](index_call& here, std::optional<error> why) {
        if (!why && here.work_.request.progress) {
          here.work_.request.progress(here.next_write_, here.bytes_read_);
        }
        // It is in place, whatever was asked for meanwhile.
        if (last && !why) {
          here.outcome_.made.bytes_read = here.outcome_.found.bytes_read = here.bytes_read_;
          here.complete(std::move(here.outcome_));
        }
        here.one_less();
        here.wrote(*batch, std::move(why));
      });
}

DATAFLUX_INLINE result<void> index_call::write_step(std::vector<finished>& batch, bool last) {
  for (finished& shard : batch) {
    const object_row row = row_of(shard.number);
    if (shard.part) {
      auto layout = layout_of(*shard.part, shard.place);
      if (!layout) return of_shard(row, layout.error());
      shard.layout = *std::move(layout);
    }
    if (work_.expected) compare(shard);
    if (shard.wrong) continue;
    sum_up(row, shard);
    if (!file_ && work_.memory == nullptr) continue;
    std::string out;
    if (auto good = encoder_->add(row, shard.layout, out); !good) {
      return of_shard(row, good.error());
    }
    if (auto good = put_out(out); !good) return good;
  }
  if (journal_) journal(batch);
  return last ? end_file() : result<void>{};
}

DATAFLUX_INLINE result<void> index_call::put_out(std::string_view bytes) {
  if (work_.memory != nullptr) work_.memory->append(bytes);
  return file_ ? file_->write(bytes) : result<void>{};
}

DATAFLUX_INLINE result<void> index_call::end_file() {
  outcome_.made.shards = plan_.size();
  const bool is_written = file_ && outcome_.found.wrong_count == 0;
  if (!is_written) outcome_.found.filled = 0;
  std::string out;
  if (auto good = encoder_->end(out); !good) return good;
  if (auto good = put_out(out); !good) return good;
  if (requests_stopped()) return error(errc::cancelled, "the call was stopped");
  if (!is_written) return {};
  auto placed = file_->put_in_place();
  if (placed && journal_) journal_->remove();
  return placed;
}

/// What is new of some shards becomes a part of the journal.
template <class Shards>
void index_call::journal(const Shards& shards) {
  shard_index_encoder part{description_};
  std::string out;
  bool any = false;
  for (const finished& shard : shards) {
    if (shard.in_journal) continue;
    any = true;
    if (!part.add(row_of(shard.number), shard.layout, out)) return;
  }
  if (any && part.end(out)) journal_->append(out);
}

/// The call has failed. What is complete is not lost.
DATAFLUX_INLINE void index_call::keep_ready() {
  const auto kept = std::make_shared<std::vector<finished>>();
  for (auto& [number, shard] : ready_) {
    if (!shard.part && !shard.wrong) kept->push_back(std::move(shard));
  }
  ready_.clear();
  one_more();
  by_file_step(
      shared_from_this(),
      [kept](index_call& self) -> result<void> {
        self.journal(*kept);
        return {};
      },
      [](index_call& here, const std::optional<error>&) { here.one_less(); });
}

DATAFLUX_INLINE void index_call::compare(finished& shard) {
  verify_shards_summary& found = outcome_.found;
  const std::size_t number = shard.number;
  const object_row row = row_of(number);
  if (!shard.wrong) {
    const auto indexed = layout_of(*work_.expected, number);
    const std::string what =
        indexed ? difference_of(*indexed, shard.layout) : indexed.error().message();
    if (!what.empty()) {
      const error why{errc::data_loss, what + "; index the shards again"};
      shard.wrong =
          wrong_shard{number, std::string(row.name), shard_fault::samples, of_shard(row, why)};
    } else if (!indexed->checksummed) {
      ++found.filled;
    }
  }
  ++found.shards;
  if (!shard.wrong) {
    found.samples += shard.layout.hashes.size();
    return;
  }
  ++found.wrong_count;
  if (found.wrong.size() < verify_shards_summary::most_wrong) {
    found.wrong.push_back(*shard.wrong);
  }
}

DATAFLUX_INLINE void index_call::sum_up(const object_row& row, const finished& shard) {
  index_shards_summary& made = outcome_.made;
  const shard_layout& layout = shard.layout;
  made.samples += layout.hashes.size();
  made.members += layout.member_sizes.size();
  if (layout.checksummed) ++made.checksummed;
  if (shard.part) ++made.taken_over;
  made.bytes += row.size;
  made.counts += layout.counts;
  made.groups += layout.groups;
  if (made.first_left_out.empty() && !layout.first_left_out.empty()) {
    made.first_left_out = std::string(row.name) + ": " + layout.first_left_out;
  }
}

DATAFLUX_INLINE void index_call::wrote(const std::vector<finished>& batch,
                                       std::optional<error> why) {
  for (const finished& each : batch) ready_bytes_ -= each.memory;
  writing_ = false;
  if (failed() || completed()) return;
  if (why) return fail(*std::move(why));
  go_on();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
