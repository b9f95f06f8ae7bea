#pragma once

#include <dataflux/list/detail/share_call.hpp>
#include <dataflux/list/detail/share_join.hpp>

#include <algorithm>
#include <utility>

/// A task of a share_call, from its names to its record.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// Of a task's text. One that is longer, as where nothing is found to cut at, is listed to its end.
inline constexpr std::size_t longest_share_id = 300;
/// So many times more calls has a task in which nothing was found with those before.
inline constexpr std::uint64_t share_calls_growth = 4;

/// Those that its parent has left.
DATAFLUX_INLINE void share_call::take(const task_ptr& j) {
  const auto place = share_plan::place_of(j->task.id);
  if (!place) {
    j->names = range_of(request_.listing);
    return list(j);
  }
  if (const auto known = records_.find(place->parent); known != records_.end()) {
    if (place->position >= known->second.left.size()) {
      return fail(damaged_record()
                      .with_bucket(request_.board_bucket)
                      .with_object(on_board(share_done, place->parent)));
    }
    j->names = known->second.left[place->position];
    return list(j);
  }
  start_read_done(store(),
                  {.bucket = request_.board_bucket,
                   .object = on_board(share_done, place->parent),
                   .limits = limits()},
                  then<share_record>(
                      [j, parent = place->parent](share_call& self, result<share_record> record) {
                        if (self.failed()) return;
                        if (!record) return self.fail(std::move(record).error());
                        self.records_.insert_or_assign(parent, *std::move(record));
                        self.take(j);
                      }));
}

DATAFLUX_INLINE void share_call::list(const task_ptr& j) {
  if (j->calls == 0) j->calls = j->task.calls;
  fast_list_request r = request_.listing;
  r.start_offset = j->names.start;
  r.end_offset = j->names.end;
  r.parallelism = slots_of(*j);
  r.max_calls = j->task.id.size() > longest_share_id ? 0 : j->calls;
  r.on_error = list_on_error::give_partial;
  r.order = list_order::any;
  r.observer = nullptr;
  r.limits = limits();
  start_fast_list(store(), r, then<listing>([j](share_call& self, result<listing> outcome) {
                    if (!self.failed()) self.listed(j, std::move(outcome));
                  }));
}

DATAFLUX_INLINE void share_call::listed(const task_ptr& j, result<listing> outcome) {
  if (!outcome) return fail(std::move(outcome).error());
  summary_.calls += outcome->summary.calls;
  // Anything but its own end of calls is the service's refusal.
  if (const auto& cause = outcome->summary.cause) {
    if (cause->code() != errc::resource_exhausted || cause->http_status() != 0) return fail(*cause);
  }
  if (outcome->summary.missing == std::vector{j->names}) {
    // Names with many generations, or pages that a glob leaves empty.
    j->calls *= share_calls_growth;
    return list(j);
  }
  j->listed = *std::move(outcome);
  const auto& left = j->listed.summary.missing;
  if (left.empty()) return pack(j);
  j->survey.emplace(name_range{left.front().start, left.back().end}, request_.listing.prefix,
                    wanted_share_pieces);
  ask(j);
}

/// One name after the other, side by side.
DATAFLUX_INLINE void share_call::ask(const task_ptr& j) {
  while (j->asking < slots_of(*j)) {
    const auto question = j->survey->next();
    if (!question) break;
    ++j->asking;
    ++summary_.calls;
    const list_page_request r{.bucket = request_.listing.bucket,
                              .prefix = request_.listing.prefix,
                              .start_offset = question->names.start,
                              .end_offset = question->names.end,
                              .max_results = 1,
                              .versions = request_.listing.versions,
                              .limits = limits()};
    store().start(
        r, then<list_page>([j, id = question->id](share_call& self, result<list_page> page) {
          --j->asking;
          if (self.failed()) return;
          // An answer that failed costs a cut.
          const bool there = page && !page->objects.empty();
          j->survey->answered(id, there ? std::optional(page->objects.name(0)) : std::nullopt);
          self.ask(j);
        }));
  }
  if (j->asking == 0 && j->survey->finished()) pack(j);
}

DATAFLUX_INLINE void share_call::pack(const task_ptr& j) {
  std::vector<name_range> left;
  for (const name_range& rest : j->listed.summary.missing) {
    for (name_range& piece : cut_at(rest, j->survey->cuts())) left.push_back(std::move(piece));
  }
  auto share = make_share(description_, j->names, j->listed.objects, std::move(left));
  if (!share) return fail(std::move(share).error());
  j->listed = {};
  j->bytes = std::move(share->bytes);
  j->rows = share->rows;
  j->children = share->record.left.size();
  j->made = std::move(share->record);
  if (!j->bytes.empty()) j->made.part = part_of(*j);
  j->record = write_share_record(j->made);
  j->bytes.empty() ? publish(j) : put_part(j);
}

/// What this process has done is there.
DATAFLUX_INLINE void share_call::own(const task_ptr& j) {
  summary_.own_objects += j->rows;
  ++summary_.own_tasks;
  records_.insert_or_assign(j->task.id, std::move(j->made));
}

DATAFLUX_INLINE void share_call::whole() {
  summary_.tasks = plan_.known();
  if (request_.path.empty()) return complete(summary_);
  share_join::what all{.bucket = request_.board_bucket,
                       .done_prefix = on_board(share_done),
                       .ids = plan_.all_done(),
                       .records = std::move(records_),
                       .whole = range_of(request_.listing),
                       .description = description_,
                       .path = request_.path,
                       .parallelism = parallelism_};
  std::make_shared<share_join>(
      store(), strand(), limits(), std::move(all),
      then<std::uint64_t>([](share_call& self, result<std::uint64_t> rows) {
        if (self.failed()) return;
        if (!rows) return self.fail(std::move(rows).error());
        self.summary_.objects = *rows;
        self.complete(self.summary_);
      }))
      ->start(request_.board_bucket);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
