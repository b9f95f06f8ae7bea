#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/shard/detail/index_rules.hpp>
#include <dataflux/shard/detail/index_share.hpp>
#include <dataflux/shard/impl/index_call.ipp>
#include <dataflux/store/detail/file_step.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

inline constexpr std::size_t most_runs = 10'000;
inline constexpr std::string_view first_task = "0";

DATAFLUX_INLINE result<void> check_board(const index_shards_request& r) {
  return check_share_place({r.board_bucket, r.board_prefix, r.lease});
}

DATAFLUX_INLINE index_share::index_share(const transfer_context& context,
                                         index_shards_request request, completion done)
    : share_board(context.store(), context.strand(), request.limits,
                  {request.board_bucket, request.board_prefix, request.lease},
                  or_default(request.parallelism, usual_readers), std::move(done)),
      context_(context),
      request_(std::move(request)),
      rules_(rules_of(request_)),
      description_{.bucket = request_.bucket,
                   .options = options_of(rules_),
                   .scheme = std::string{context.store().traits().scheme}} {}

DATAFLUX_INLINE void index_share::begin() {
  if (!watch_stop()) return stop_asked();
  watch_deadline();
  one_more();
  by_file_step(
      shared_from_this(), [](index_share& self) { return self.divide(); },
      [](index_share& here, std::optional<error> why) {
        here.one_less();
        if (here.failed()) return;
        if (why) return here.fail(*std::move(why));
        here.share(write_index_description(here.agreed_));
      });
}

DATAFLUX_INLINE result<void> index_share::divide() {
  shards_ = plan_shards(request_.shards);
  firsts_ = cut_by_bytes(request_.shards, shards_, most_runs);
  parts_.resize(firsts_.size());
  summary_.shards = shards_.size();
  agreed_ = description_;
  agreed_.options.emplace_back("shards", std::to_string(shards_.size()));
  agreed_.options.emplace_back("listing", std::to_string(digest_of(request_.shards, shards_)));
  return {};
}

DATAFLUX_INLINE result<std::string> index_share::difference(bytes_view there) const {
  const auto other = read_index_description(there);
  if (!other) return other.error();
  if (other->scheme != agreed_.scheme) return std::string{"service"};
  if (other->bucket != agreed_.bucket) return std::string{"bucket"};
  if (other->options.size() != agreed_.options.size()) return std::string{"set of options"};
  for (std::size_t i = 0; i < agreed_.options.size(); ++i) {
    if (other->options[i] != agreed_.options[i]) return agreed_.options[i].first;
  }
  return std::string{};
}

DATAFLUX_INLINE std::size_t index_share::end_of(std::size_t run) const noexcept {
  return run + 1 < firsts_.size() ? firsts_[run + 1] : shards_.size();
}

/// With the indexes that lie beside them.
DATAFLUX_INLINE object_columns index_share::rows_of(std::size_t run) const {
  object_columns rows;
  const auto add = [&](std::size_t i) {
    const object_row row = request_.shards[i];
    rows.append(row.name, row.size, row.generation, row.crc32c);
  };
  for (std::size_t i = firsts_[run]; i < end_of(run); ++i) {
    add(shards_[i].row);
    if (shards_[i].sidecar != planned_shard::none) add(shards_[i].sidecar);
  }
  return rows;
}

DATAFLUX_INLINE index_shards_request index_share::for_rows(object_columns rows) const {
  return {.bucket = request_.bucket,
          .shards = std::move(rows),
          .parts = request_.parts,
          .reading = request_.reading,
          .grouping = request_.grouping,
          .skip_from = request_.skip_from,
          .parallelism = request_.parallelism,
          .limits = limits()};
}

DATAFLUX_INLINE void index_share::take(const task_ptr& t) {
  const auto place = share_plan::place_of(t->task.id);
  t->record = "{}";
  if (!place) {
    t->children = firsts_.size();
    return publish(t);
  }
  if (place->parent == first_task && place->position < firsts_.size()) {
    return index(t, place->position);
  }
  fail(error(errc::data_loss, "the board has a task that the listing has not")
           .with_bucket(at_.bucket)
           .with_object(t->task.id));
}

DATAFLUX_INLINE void index_share::index(const task_ptr& t, std::size_t run) {
  index_shards_request request = for_rows(rows_of(run));
  request.parallelism = slots_of(*t);
  index_work work = index_work::of(std::move(request));
  work.description = description_;
  work.to_file = work.journal = false;
  work.memory = std::make_shared<std::string>();
  work.readers = parallelism_;
  const auto memory = work.memory;
  std::make_shared<index_call>(
      context_, std::move(work),
      then<index_outcome>([t, memory](index_share& self, const result<index_outcome>& outcome) {
        if (self.failed()) return;
        if (!outcome) return self.fail(outcome.error());
        self.summary_.bytes_read += outcome->made.bytes_read;
        t->bytes = std::move(*memory);
        t->rows = outcome->made.samples;
        t->record = "{\"part\":\"" + self.part_of(*t) + "\"}";
        self.put_part(t);
      }))
      ->start(request_.bucket);
}

DATAFLUX_INLINE void index_share::saw(std::string_view id, const share_mark& mark) {
  const auto place = share_plan::place_of(id);
  if (!place || place->parent != first_task || place->position >= firsts_.size()) return;
  const std::size_t run = place->position;
  parts_[run] = {.bucket = at_.bucket,
                 .object = on_board(share_part, id) + "-" + mark.token,
                 .size = mark.part_bytes,
                 .first = firsts_[run],
                 .count = end_of(run) - firsts_[run]};
  summary_.samples += mark.rows;
  shards_done_ += parts_[run].count;
  if (request_.progress && request_.path.empty()) {
    request_.progress(shards_done_, summary_.bytes_read);
  }
}

DATAFLUX_INLINE void index_share::whole() {
  if (request_.path.empty()) return complete(summary_);
  index_shards_request request = for_rows(request_.shards.slice(0, request_.shards.size()));
  request.path = request_.path;
  request.progress = request_.progress;
  // What they know is in the parts of all, which have each shard.
  request.parts.clear();
  index_work work = index_work::of(std::move(request));
  work.description = description_;
  work.parts = parts_;
  work.journal = false;
  std::make_shared<index_call>(
      context_, std::move(work),
      then<index_outcome>([](index_share& self, const result<index_outcome>& outcome) {
        if (self.failed()) return;
        if (!outcome) return self.fail(outcome.error());
        index_shards_summary made = outcome->made;
        made.bytes_read += self.summary_.bytes_read;
        self.complete(std::move(made));
      }))
      ->start(request_.bucket);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
