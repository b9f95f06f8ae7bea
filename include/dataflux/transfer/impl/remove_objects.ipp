#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/store/detail/validate.hpp>
#include <dataflux/transfer/detail/age.hpp>
#include <dataflux/transfer/detail/objects_removal.hpp>
#include <dataflux/transfer/remove_objects.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// So many wait in the queue at most, and the next page is asked for when half of them are gone.
inline constexpr std::size_t removals_ahead = 1000;
inline constexpr duration between_removal_tellings = std::chrono::milliseconds(100);
inline constexpr std::size_t most_removals_told = 1000;

inline result<void> validate_removal(const remove_objects_request& r) {
  if (auto good = validate_bucket_name(r.bucket); !good) return good;
  const int sources = int{r.prefix.has_value()} + int{!r.rows.empty()} + int{!r.names.empty()};
  if (sources > 1) {
    return error{errc::invalid_argument,
                 "give one of prefix, rows and names to say what is to be removed"};
  }
  if (r.older_than && !r.prefix) {
    return error{errc::invalid_argument, "older_than needs a prefix, whose listing tells ages"};
  }
  if (r.older_than.value_or(duration{0}) < duration{0}) {
    return error{errc::invalid_argument, "no object is younger than a negative age"};
  }
  return {};
}

DATAFLUX_INLINE objects_removal::objects_removal(object_store& store,
                                                 remove_objects_request request, completion done)
    : remover(store, request.bucket, request.limits, request.parallel, request.dry_run),
      request_(std::move(request)),
      done_(std::move(done)),
      told_(strand().now()) {
  if (!request_.prefix) return;
  walk_.emplace(
      list_page_request{.bucket = bucket(),
                        .prefix = *request_.prefix,
                        .extra = request_.older_than ? extra_columns::created : extra_columns::none,
                        .etags = store.traits().max_removals > 1});
}

DATAFLUX_INLINE void objects_removal::drained() {
  if (walk_) return walk_->ended() ? finish() : list();
  if (next_ == std::max(request_.rows.size(), request_.names.size())) return finish();
  add_given();
  // In a dry run all of them are gone at once: others get their turn between two thousands.
  one_more();
  strand().post(
      [self = std::static_pointer_cast<objects_removal>(shared_from_this())] { self->one_less(); });
}

DATAFLUX_INLINE void objects_removal::look_ahead() {
  if (queued() >= removals_ahead / 2) return;
  if (walk_ && !walk_->ended()) return list();
  if (!dry_run()) add_given();
}

DATAFLUX_INLINE void objects_removal::list() {
  if (listing_ || failed()) return;
  listing_ = true;
  store().start(walk_->next(limits()),
                then<list_page>(this, [](objects_removal& self, result<list_page> page) {
                  self.listing_ = false;
                  self.take(std::move(page));
                }));
}

DATAFLUX_INLINE void objects_removal::take(result<list_page> page) {
  if (!page) return fail(std::move(page).error());
  if (auto good = walk_->take(*page); !good) return fail(std::move(good).error());
  const object_columns& rows = page->objects;
  const timestamp now = request_.older_than ? listed_at(*page) : timestamp{};
  std::size_t at = 0;
  for (auto row = rows.begin(); row != rows.end(); ++row, ++at) {
    if (request_.older_than) {
      const auto created = row.extras().created;
      if (!created || later(*created, *request_.older_than) > now) {
        ++report_.young;
        continue;
      }
    }
    const object_row object = *row;
    add({.name = std::string(object.name),
         .generation = object.generation,
         .etag = at < page->etags.size() ? std::move(page->etags[at]) : std::string{},
         .size = object.size,
         .for_good = request_.for_good});
  }
  send();
  look_ahead();
}

DATAFLUX_INLINE void objects_removal::add_given() {
  for (std::size_t n = 0; n < removals_ahead; ++n, ++next_) {
    if (next_ < request_.rows.size()) {
      const object_row row = request_.rows[next_];
      add({.name = std::string(row.name),
           .generation = row.generation,
           .size = row.size,
           .for_good = request_.for_good});
    } else if (next_ < request_.names.size()) {
      add({.name = std::move(request_.names[next_]),
           .look_up = true,
           .for_good = request_.for_good});
    } else {
      return;
    }
  }
}

DATAFLUX_INLINE void objects_removal::removed(const removal& what, const result<void>& outcome) {
  if (outcome) {
    ++report_.objects;
    report_.bytes += what.size;
  } else {
    if (is_hopeless(outcome.error())) fail(outcome.error());
    ++report_.failed;
    if (report_.failures.size() < or_default<std::size_t>(request_.max_failures, 100)) {
      report_.failures.push_back({what.name, outcome.error()});
    }
  }
  if (request_.progress) {
    ended_removal& one = ended_.emplace_back();
    one.name = what.name;
    one.generation = what.generation;
    one.size = what.size;
    if (!outcome) one.failure = outcome.error();
    if (ended_.size() >= most_removals_told || strand().now() - told_ >= between_removal_tellings) {
      tell();
    }
  }
  look_ahead();
}

DATAFLUX_INLINE void objects_removal::tell() {
  if (ended_.empty()) return;
  request_.progress({.objects = report_.objects,
                     .bytes = report_.bytes,
                     .failed = report_.failed,
                     .ended = ended_});
  ended_.clear();
  told_ = strand().now();
}

DATAFLUX_INLINE void objects_removal::end() {
  tell();
  auto done = std::exchange(done_, {});
  if (failed()) return done(*failure_);
  done(std::move(report_));
}

}  // namespace detail

DATAFLUX_INLINE void start_remove_objects(object_store& store, remove_objects_request request,
                                          object_store::completion<removed_objects> done) {
  if (auto good = detail::validate_removal(request); !good) return done(std::move(good).error());
  std::make_shared<detail::objects_removal>(store, std::move(request), std::move(done))->start();
}

DATAFLUX_INLINE operation<removed_objects> submit_remove_objects(object_store& store,
                                                                 remove_objects_request request) {
  return start_operation<removed_objects>(request.limits, [&](auto done) {
    start_remove_objects(store, std::move(request), std::move(done));
  });
}

DATAFLUX_INLINE result<removed_objects> remove_objects(object_store& store,
                                                       remove_objects_request request) {
  return submit_remove_objects(store, std::move(request)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI
