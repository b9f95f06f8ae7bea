#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/list/detail/share_call.hpp>
#include <dataflux/list/detail/share_join.hpp>

#include <algorithm>
#include <utility>

/// A task of a share_call, from its claim to its done. Whatever fails here fails the call, and the
/// task waits for another process.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// Of a task's text. One that is longer, as where nothing is found to cut at, is listed to its end.
inline constexpr std::size_t longest_share_id = 300;
/// So many times more calls has a task in which nothing was found with those before.
inline constexpr std::uint64_t share_calls_growth = 4;

DATAFLUX_INLINE void share_call::claim(const job_ptr& j) {
  insert_request r = creation(on_board(share_claim, j->task.id), {});
  r.conditions.if_generation_match = j->task.claim > 0 ? j->task.claim : 0;
  store().start(r, then<object_metadata>([j](share_call& self, result<object_metadata> made) {
                  if (self.failed()) return;
                  if (made) return self.find_names(j);
                  const errc why = made.error().code();
                  // Whoever may not replace objects lists the task without a claim of its own.
                  if (why == errc::permission_denied && j->task.claim > 0) {
                    return self.find_names(j);
                  }
                  if (why != errc::already_exists && why != errc::failed_precondition) {
                    return self.fail(std::move(made).error());
                  }
                  self.plan_.lost(j->task, self.strand().now());
                  self.leave();
                }));
}

DATAFLUX_INLINE void share_call::leave() {
  --jobs_;
  advance();
}

/// Those that its parent has left.
DATAFLUX_INLINE void share_call::find_names(const job_ptr& j) {
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
                        self.find_names(j);
                      }));
}

DATAFLUX_INLINE void share_call::list(const job_ptr& j) {
  fast_list_request r = request_.listing;
  r.start_offset = j->names.start;
  r.end_offset = j->names.end;
  r.parallelism = j->slots;
  r.max_calls = j->task.id.size() > longest_share_id ? 0 : j->calls;
  r.on_error = list_on_error::give_partial;
  r.order = list_order::any;
  r.observer = nullptr;
  r.limits = limits();
  start_fast_list(store(), r, then<listing>([j](share_call& self, result<listing> outcome) {
                    if (!self.failed()) self.listed(j, std::move(outcome));
                  }));
}

DATAFLUX_INLINE void share_call::listed(const job_ptr& j, result<listing> outcome) {
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
DATAFLUX_INLINE void share_call::ask(const job_ptr& j) {
  while (j->asking < j->slots) {
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

DATAFLUX_INLINE void share_call::pack(const job_ptr& j) {
  std::vector<name_range> left;
  for (const name_range& rest : j->listed.summary.missing) {
    for (name_range& piece : cut_at(rest, j->survey->cuts())) left.push_back(std::move(piece));
  }
  auto share = make_share(description_, j->names, j->listed.objects, std::move(left));
  if (!share) return fail(std::move(share).error());
  j->made = *std::move(share);
  j->listed = {};
  if (j->made.bytes.empty()) return publish(j);
  j->made.record.part = on_board(share_part, j->task.id) + "-" + token_;
  const insert_request r = creation(j->made.record.part, as_bytes(j->made.bytes));
  store().start(r, then<object_metadata>([j](share_call& self, result<object_metadata> made) {
                  if (self.failed()) return;
                  if (made) return self.packed(j);
                  if (made.error().code() != errc::already_exists) return self.fail(made.error());
                  self.compare_part(j, made.error());
                }));
}

/// Nobody else makes a part of that name. Is it this one, of a request that came twice?
DATAFLUX_INLINE void share_call::compare_part(const job_ptr& j, const error& refused) {
  store().start(stat_request{.bucket = request_.board_bucket,
                             .object = j->made.record.part,
                             .fields = metadata_fields::basic,
                             .limits = limits()},
                then<object_metadata>([j, refused](share_call& self, auto found) {
                  if (self.failed()) return;
                  if (!found) return self.fail(std::move(found).error());
                  const bool same = found->crc32c == crc32c(as_bytes(j->made.bytes));
                  same ? self.packed(j) : self.fail(refused);
                }));
}

DATAFLUX_INLINE void share_call::packed(const job_ptr& j) {
  j->made.bytes = {};
  publish(j);
}

DATAFLUX_INLINE void share_call::publish(const job_ptr& j) {
  const auto text = std::make_shared<const std::string>(write_share_record(j->made.record));
  insert_request r = creation(on_board(share_done, j->task.id), as_bytes(*text));
  r.attributes.metadata = {
      {std::string(share_children), std::to_string(j->made.record.left.size())},
      {std::string(share_rows), std::to_string(j->made.rows)}};
  store().start(
      r, then<object_metadata>([j, text](share_call& self, const result<object_metadata>& made) {
        if (!self.failed()) self.published(j, made);
      }));
}

DATAFLUX_INLINE void share_call::published(const job_ptr& j, const result<object_metadata>& made) {
  if (made) return count(j);
  if (made.error().code() != errc::already_exists) return fail(made.error());
  // Another process, which thought this one dead, was faster. Or this one's done is there, and a
  // second try of the request was refused by it: then its part has to stay.
  start_read_done(store(),
                  {.bucket = request_.board_bucket,
                   .object = on_board(share_done, j->task.id),
                   .limits = limits()},
                  then<share_record>([j](share_call& self, const result<share_record>& there) {
                    if (self.failed()) return;
                    const std::string& part = j->made.record.part;
                    if (there && !part.empty() && there->part == part) return self.count(j);
                    self.plan_.lost(j->task, self.strand().now());
                    if (!there || part.empty()) return self.leave();
                    self.remove_part(j);
                  }));
}

/// What this process has done is there.
DATAFLUX_INLINE void share_call::count(const job_ptr& j) {
  if (!plan_.done(j->task.id)) summary_.objects += j->made.rows;
  plan_.saw_done(j->task.id, j->made.record.left.size());
  summary_.own_objects += j->made.rows;
  ++summary_.own_tasks;
  records_.insert_or_assign(j->task.id, std::move(j->made.record));
  leave();
}

/// One that no done names does no harm where it cannot be removed.
DATAFLUX_INLINE void share_call::remove_part(const job_ptr& j) {
  store().start(remove_request{.bucket = request_.board_bucket,
                               .object = j->made.record.part,
                               .last_writer_wins = true,
                               .limits = limits()},
                then<void>([j](share_call& self, const result<void>&) {
                  if (!self.failed()) self.leave();
                }));
}

DATAFLUX_INLINE void share_call::join() {
  summary_.tasks = plan_.known();
  if (resting_ != timer_id::none) strand().cancel(std::exchange(resting_, timer_id::none));
  if (request_.path.empty()) return complete(summary_);
  joining_ = true;
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
