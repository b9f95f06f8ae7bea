#pragma once

#include <dataflux/codec/detail/json.hpp>
#include <dataflux/store/detail/reserved_prefixes.hpp>
#include <dataflux/store/detail/validate.hpp>
#include <dataflux/transfer/detail/age.hpp>
#include <dataflux/transfer/detail/composite_label.hpp>
#include <dataflux/transfer/detail/leftovers_removal.hpp>
#include <dataflux/transfer/detail/temporary_object.hpp>
#include <dataflux/transfer/leftovers.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

/// The walks over what is to be listed wait in objects_ and uploads_; the first one is under way.
/// list() asks for its next page. take() checks the page, keeps the rows that are asked for, and
/// calls list() again. Objects come first: their pages tell the service's time, by which ages are
/// told.
///
/// When both are empty, remove_stale() orders the rows and queues those that are stale, unless they
/// are only to be found. The remover removes some of them at a time (detail/remover.hpp) and tells
/// removed() of each. A page that fails ends the call; a removal that fails marks its row, and ends
/// the call only where all others would fail as well. end() counts and completes, once. All on the
/// strand.
namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// Of a row's metadata column, which is a JSON object of texts.
inline std::optional<composite_label> label_of(std::string_view metadata) {
  if (metadata.empty()) return std::nullopt;
  const auto document = codec::json_document::parse(as_bytes(metadata));
  if (!document) return std::nullopt;
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const codec::json_member& member : document->root().members()) {
    if (const auto text = member.value.text()) pairs.emplace_back(member.key, *text);
  }
  return parse_composite_label(pairs);
}

/// What has no time of its own: by its age alone, and only where one was given.
inline leftover_verdict verdict_by_age(const std::optional<timestamp>& began, timestamp now,
                                       std::optional<duration> older_than) {
  const bool stale = began && older_than && later(*began, *older_than) <= now;
  return stale ? leftover_verdict::stale : leftover_verdict::young;
}

inline void name_target(leftover& one) {
  const auto target = target_of_temporary(one.name);
  one.target = target ? target->object : one.name;
  one.whole_target = !target || target->whole;
}

DATAFLUX_INLINE leftover verify_leftover(const object_row& row, const object_extras& extras,
                                         bool versions, timestamp now,
                                         std::optional<duration> older_than) {
  leftover one;
  one.name = row.name;
  one.generation = row.generation;
  one.size = row.size;
  one.noncurrent = versions;
  one.began = extras.created;
  name_target(one);
  if (row.name.starts_with(temporary_objects_prefix)) {
    one.kind = leftover_kind::temporary_object;
    if (target_of_temporary(row.name)) one.verdict = verdict_by_age(one.began, now, older_than);
    return one;
  }
  if (is_condition_scratch_name(row.name)) {
    one.kind = leftover_kind::temporary_object;
    one.verdict = verdict_by_age(one.began, now, older_than);
    return one;
  }
  one.kind = leftover_kind::composite;
  const auto label = is_composite_name(row.name) ? label_of(extras.metadata) : std::nullopt;
  if (label && one.began) {
    const bool stale = composite_expired(*label, *one.began, now, older_than);
    one.verdict = stale ? leftover_verdict::stale : leftover_verdict::young;
  }
  return one;
}

DATAFLUX_INLINE leftover verify_leftover(const listed_upload& upload, timestamp now,
                                         std::optional<duration> older_than) {
  leftover one;
  one.name = upload.object;
  one.upload_id = upload.upload_id;
  one.began = upload.initiated;
  one.verdict = verdict_by_age(one.began, now, older_than);
  name_target(one);
  return one;
}

DATAFLUX_INLINE bool is_asked_for(const leftover& one, std::string_view prefix) {
  return one.target.starts_with(prefix) || one.name.starts_with(prefix) ||
         (!one.whole_target && prefix.starts_with(one.target));
}

DATAFLUX_INLINE void order_leftovers(std::vector<leftover>& rows) {
  const auto place = [](const leftover& one) {
    return std::tie(one.target, one.began, one.name, one.upload_id, one.generation, one.noncurrent);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const leftover& a, const leftover& b) { return place(a) < place(b); });
  // Two prefixes may have the same uploads, and live objects are listed with all generations, too.
  const auto twice = [](const leftover& a, const leftover& b) {
    return a.name == b.name && a.upload_id == b.upload_id && a.generation == b.generation;
  };
  rows.erase(std::unique(rows.begin(), rows.end(), twice), rows.end());
}

DATAFLUX_INLINE leftovers_removal::leftovers_removal(object_store& store,
                                                     const leftovers_request& request,
                                                     bool only_find, completion done)
    : remover(store, request.bucket, request.limits),
      request_(request),
      only_find_(only_find),
      done_(std::move(done)) {
  const auto objects = [this](std::string_view prefix, bool versions, extra_columns extra) {
    objects_.push_back({page_walk({.bucket = bucket(),
                                   .prefix = std::string(prefix),
                                   .versions = versions,
                                   .extra = extra_columns::created | extra}),
                        versions});
  };
  const auto uploads = [this](std::string_view prefix) {
    uploads_.emplace_back(list_uploads_request{.bucket = bucket(), .prefix = std::string(prefix)});
  };
  if (request_.composites && request_.prefix.empty()) {
    objects(composed_objects_prefix, false, extra_columns::metadata);
  }
  if (!request_.uploads) return;
  // Where the bucket keeps versions, objects removed without their generation are billed, too.
  for (const bool versions : {false, true}) {
    if (versions && !store.traits().lists_versions) continue;
    objects(temporary_objects_prefix, versions, extra_columns::none);
  }
  // Who tells states apart by their ETags may have asked whether conditions are kept.
  if (!store.traits().ordered_generations) {
    std::string scratch = request_.prefix;
    if (!scratch.empty() && scratch.back() != '/') scratch.push_back('/');
    objects(scratch.append(condition_scratch_name), false, extra_columns::none);
  }
  // Those under their own names, and those that are called something else until they are whole.
  uploads(request_.prefix);
  if (!temporary_objects_prefix.starts_with(request_.prefix)) uploads(temporary_objects_prefix);
}

DATAFLUX_INLINE void leftovers_removal::list() {
  if (!objects_.empty()) {
    return store().start(objects_.front().pages.next(limits()),
                         then<list_page>(this, [](leftovers_removal& self, result<list_page> page) {
                           self.take(std::move(page));
                         }));
  }
  if (!uploads_.empty()) {
    return store().start(
        uploads_.front().next(limits()),
        then<upload_page>(this, [](leftovers_removal& self, result<upload_page> page) {
          self.take(std::move(page));
        }));
  }
  remove_stale();
}

DATAFLUX_INLINE void leftovers_removal::take(result<list_page> page) {
  if (!page) return fail(std::move(page).error());
  object_walk& walk = objects_.front();
  if (auto good = walk.pages.take(*page); !good) return fail(std::move(good).error());
  now_ = listed_at(*page);
  for (auto row = page->objects.begin(); row != page->objects.end(); ++row) {
    keep(verify_leftover(*row, row.extras(), walk.versions, now_, request_.older_than));
  }
  if (walk.pages.ended()) objects_.pop_front();
  list();
}

DATAFLUX_INLINE void leftovers_removal::take(result<upload_page> page) {
  if (!page) return fail(std::move(page).error());
  if (auto good = uploads_.front().take(*page); !good) return fail(std::move(good).error());
  for (const listed_upload& upload : page->uploads) {
    keep(verify_leftover(upload, now_, request_.older_than));
  }
  if (uploads_.front().ended()) uploads_.pop_front();
  list();
}

DATAFLUX_INLINE void leftovers_removal::keep(leftover one) {
  if (is_asked_for(one, request_.prefix)) report_.rows.push_back(std::move(one));
}

DATAFLUX_INLINE void leftovers_removal::remove_stale() {
  order_leftovers(report_.rows);
  for (std::size_t i = 0; i < report_.rows.size() && !only_find_; ++i) {
    const leftover& one = report_.rows[i];
    if (one.verdict != leftover_verdict::stale) continue;
    add({.name = one.name,
         .generation = one.generation,
         .upload_id = one.upload_id,
         .size = one.size,
         .for_good = true,
         .index = i});
  }
  go_on();
}

DATAFLUX_INLINE void leftovers_removal::removed(const removal& what, const result<void>& outcome) {
  if (outcome) return;
  leftover& one = report_.rows[what.index];
  one.verdict = leftover_verdict::failed;
  one.failure = outcome.error();
  if (is_hopeless(*one.failure)) fail(*one.failure);
}

DATAFLUX_INLINE void leftovers_removal::end() {
  auto done = std::exchange(done_, {});
  if (failed()) return done(*failure_);
  for (const leftover& one : report_.rows) {
    switch (one.verdict) {
      case leftover_verdict::stale:
        ++report_.stale;
        report_.stale_bytes += one.size;
        break;
      case leftover_verdict::young:
        ++report_.young;
        break;
      case leftover_verdict::foreign:
        ++report_.foreign;
        break;
      case leftover_verdict::failed:
        ++report_.failed;
        break;
    }
  }
  done(std::move(report_));
}

inline void start_leftovers(object_store& store, const leftovers_request& request, bool only_find,
                            object_store::completion<leftovers_report> done) {
  if (auto good = validate_bucket_name(request.bucket); !good) {
    return done(std::move(good).error());
  }
  if (request.older_than.value_or(duration{0}) < duration{0}) {
    return done(error{errc::invalid_argument, "nothing is younger than a negative age"});
  }
  std::make_shared<leftovers_removal>(store, request, only_find, std::move(done))->start();
}

}  // namespace detail

DATAFLUX_INLINE void start_find_leftovers(object_store& store, const leftovers_request& request,
                                          object_store::completion<leftovers_report> done) {
  detail::start_leftovers(store, request, true, std::move(done));
}

DATAFLUX_INLINE operation<leftovers_report> submit_find_leftovers(object_store& store,
                                                                  leftovers_request request) {
  return start_operation<leftovers_report>(
      request.limits, [&](auto done) { start_find_leftovers(store, request, std::move(done)); });
}

DATAFLUX_INLINE result<leftovers_report> find_leftovers(object_store& store,
                                                        leftovers_request request) {
  return submit_find_leftovers(store, std::move(request)).take();
}

DATAFLUX_INLINE void start_remove_leftovers(object_store& store, const leftovers_request& request,
                                            object_store::completion<leftovers_report> done) {
  detail::start_leftovers(store, request, false, std::move(done));
}

DATAFLUX_INLINE operation<leftovers_report> submit_remove_leftovers(object_store& store,
                                                                    leftovers_request request) {
  return start_operation<leftovers_report>(
      request.limits, [&](auto done) { start_remove_leftovers(store, request, std::move(done)); });
}

DATAFLUX_INLINE result<leftovers_report> remove_leftovers(object_store& store,
                                                          leftovers_request request) {
  return submit_remove_leftovers(store, std::move(request)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI
