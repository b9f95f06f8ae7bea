#pragma once

#include <dataflux/codec/detail/glob.hpp>
#include <dataflux/detail/or_default.hpp>
#include <dataflux/list/detail/filter_table.hpp>
#include <dataflux/list/detail/list_coordinator.hpp>
#include <dataflux/store/detail/validate.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

/// A listing is a row of ranges of names. Each one is open, complete or failed; a cut makes two of
/// one.
///
/// begin() sends the first page. A reply is checked and filtered on the I/O thread where it came
/// (examine) and then posted to the strand. There arrived() takes it. A page moves its range
/// forward, and its names behind a cut go to the ranges there; the answer of a probe goes to the
/// splitter. One advance() follows for all replies of a turn (plan_soon). It asks the splitter what
/// to do with the free slots: cuts are made at once, pages and probes are sent.
///
/// As a stream the pages go into the queue. by_name keeps them until all ranges to the left are
/// complete. When the memory is full the coordinator parks at the queue, and the reader wakes it.
///
/// It ends when no range is open: complete() proves that the ranges cover the listing, and finish()
/// hands over. A failure ends it at once; with give_partial only its range ends. finish() runs
/// once; replies that come later find finished_.
namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::uint32_t no_range = UINT32_MAX;
inline constexpr std::uint32_t most_parallel_calls = 1024;
inline constexpr std::size_t first_parallelism = 48;
inline constexpr std::size_t adaptive_parallelism = 128;
/// Pages for each slot, from which on more slots cost few calls in comparison.
inline constexpr std::uint64_t pages_per_slot = 20;
inline constexpr std::size_t default_look_ahead = std::size_t{256} << 20U;

inline list_page_request as_page_request(const fast_list_request& r) {
  return {.bucket = r.bucket,
          .prefix = r.prefix,
          .delimiter = r.delimiter,
          .start_offset = r.start_offset,
          .end_offset = r.end_offset,
          .max_results = r.page_size,
          .include_trailing_delimiter = r.include_trailing_delimiter,
          .match_glob = r.match_glob,
          .versions = r.versions,
          .extra = r.extra | columns_for(r.filter)};
}

inline result<void> check(const fast_list_request& r) {
  const auto bad = [](std::string_view what, std::string_view rule) {
    return error{errc::invalid_argument, std::string(what).append(": ").append(rule)};
  };
  if (r.parallelism > most_parallel_calls) return bad("parallelism", "at most 1024");
  if (!std::isfinite(r.calls_per_page) || (r.calls_per_page != 0 && r.calls_per_page < 1)) {
    return bad("calls_per_page", "must be 0 or at least 1");
  }
  return validate(as_page_request(r));
}

/// What a glob begins with narrows it, too: a service may have to look at every name.
inline name_range range_of(const fast_list_request& r) {
  auto all = name_range::of_prefix(r.prefix).intersect({r.start_offset, r.end_offset});
  if (r.match_glob.empty() || !r.delimiter.empty()) return all;
  return all.intersect(name_range::of_prefix(codec::glob_prefix(r.match_glob)));
}

inline range_splitter_options splitter_options(const fast_list_request& r,
                                               std::uint32_t page_size) {
  const bool plain = r.delimiter.empty() && r.match_glob.empty() && !r.versions;
  return {.range = range_of(r),
          .prefix = r.prefix,
          .delimiter = r.delimiter,
          .parallelism =
              r.parallelism == 0 ? static_cast<std::uint32_t>(adaptive_parallelism) : r.parallelism,
          .page_size = page_size,
          .calls_per_page = or_default(r.calls_per_page, fast_list_request{}.calls_per_page),
          .folder_probes = plain,
          .in_order = r.order == list_order::by_name};
}

inline std::uint32_t page_size_of(const fast_list_request& r, const store_traits& traits) {
  const std::uint32_t most = std::max<std::uint32_t>(traits.max_list_page, 1);
  return r.page_size == 0 ? most : std::min(r.page_size, most);
}

DATAFLUX_INLINE void list_coordinator::start(object_store& store, const fast_list_request& request,
                                             completion done, std::shared_ptr<list_queue> queue) {
  auto valid = check(request);
  auto filter = list_filter::create(request.filter);
  if (valid && filter) {
    const auto self = std::make_shared<list_coordinator>(store, request, *std::move(filter),
                                                         std::move(done), std::move(queue));
    if (request.limits.stop.stop_requested()) return self->stop_asked();
    self->coordinator::start(request.bucket);
    // After the post of begin(): whatever the reader asks for comes after that, too.
    if (self->queue_) self->queue_->attach(self);
    return;
  }
  error bad = valid ? std::move(filter).error() : std::move(valid).error();
  bad.with_scheme(store.traits().scheme).with_bucket(request.bucket);
  if (queue) return queue->end(std::move(bad), {});
  done(std::move(bad));
}

DATAFLUX_INLINE list_coordinator::list_coordinator(object_store& store,
                                                   const fast_list_request& request,
                                                   list_filter filter, completion done,
                                                   std::shared_ptr<list_queue> queue)
    : coordinator(store, store.executor(), request.limits),
      request_(request),
      filter_(std::move(filter)),
      whole_(range_of(request)),
      page_size_(page_size_of(request, store.traits())),
      done_(std::move(done)),
      queue_(std::move(queue)),
      splitter_(splitter_options(request, page_size_)),
      limit_(request.parallelism == 0 ? first_parallelism : request.parallelism),
      page_bytes_(std::size_t{128} * page_size_) {
  ranges_[0].names = whole_;
  own_stop();
}

/// Without finish(): the store ended, and destroyed the tasks that kept the coordinator alive.
DATAFLUX_INLINE list_coordinator::~list_coordinator() {
  if (finished_) return;
  error dropped = failure(errc::cancelled, "the store was destroyed during the listing");
  if (queue_) {
    queue_->end(std::move(dropped), summary_);
  } else if (done_) {
    done_(std::move(dropped));
  }
}

DATAFLUX_INLINE void list_coordinator::stop() noexcept {
  const auto self = weak_from_this().lock();
  stop_requests();  // at once, for the pages that are examined on other threads
  if (self == nullptr) return;
  within_memory([&] { self->wake(); });
}

DATAFLUX_INLINE void list_coordinator::wake() {
  post_step([](list_coordinator& self) { self.advance(); });
}

DATAFLUX_INLINE void list_coordinator::fail(error why) {
  within_memory([&] { why.with_bucket(request_.bucket); });
  finish(std::move(why));
}

DATAFLUX_INLINE void list_coordinator::refused(const error& why) {
  finish(failure(why.code(), why.message()));
}

DATAFLUX_INLINE void list_coordinator::stop_asked() {
  finish(failure(errc::cancelled, "the caller asked to stop"));
}

DATAFLUX_INLINE void list_coordinator::begin() {
  if (!watch_stop() || requests_stopped()) return stop_asked();
  if (whole_.empty()) return finish(std::nullopt);
  call_ptr first;
  for (const list_action& action : splitter_.plan(1)) {
    auto made = perform(action);
    if (!made) return finish(std::move(made).error());
    if (*made != nullptr) first = std::move(*made);
  }
  if (first == nullptr) return finish(failure(errc::internal, "nothing is planned to begin with"));
  one_more();
  ++summary_.calls;
  start_call(first);
}

DATAFLUX_INLINE void list_coordinator::advance() {
  if (finished_) return;
  if (requests_stopped()) return stop_asked();
  if (open_ == 0) return complete();
  if (clock().passed()) {
    error late = late_.tell();
    const error named = failure(errc::deadline_exceeded, late.message());
    return fail_open(late.with_message(named.message()).with_bucket(request_.bucket));
  }
  if (in_flight() == 0 && !may_call()) {
    return fail_open(
        failure(errc::resource_exhausted,
                "max_calls " + std::to_string(request_.max_calls) + " were not enough"));
  }
  bool leftmost_only = false;
  const std::size_t slots = free_slots(leftmost_only);
  for (const list_action& action : splitter_.plan(slots, leftmost_only)) {
    auto made = perform(action);
    if (!made) return finish(std::move(made).error());
    if (*made != nullptr) send(*made);
  }
  if (in_flight() == 0 && slots > 0) {
    finish(failure(errc::internal, "there are ranges that nothing is planned for"));
  }
}

DATAFLUX_INLINE bool list_coordinator::may_call() const noexcept {
  return request_.max_calls == 0 || summary_.calls < request_.max_calls;
}

DATAFLUX_INLINE std::size_t list_coordinator::free_slots(bool& leftmost_only) {
  if (in_flight() >= limit_) return 0;
  std::size_t slots = limit_ - in_flight();
  if (request_.max_calls != 0) {
    slots = std::min<std::uint64_t>(slots, request_.max_calls - summary_.calls);
  }
  return queue_ ? slots_by_memory(slots, leftmost_only) : slots;
}

DATAFLUX_INLINE std::size_t list_coordinator::slots_by_memory(std::size_t slots,
                                                              bool& leftmost_only) {
  const std::size_t cap = request_.memory_cap == 0 ? default_look_ahead : request_.memory_cap;
  const bool by_name = request_.order == list_order::by_name;
  while (true) {
    const std::size_t kept = queue_->bytes();
    const std::size_t used = kept + waiting_bytes_ + in_flight() * page_bytes_;
    if (used < cap && cap - used >= page_bytes_) return std::min(slots, (cap - used) / page_bytes_);
    // The reader has nothing to take: the page that it waits for is always allowed.
    if (kept == 0 && (by_name || in_flight() == 0)) {
      leftmost_only = by_name;
      return std::min<std::size_t>(slots, 1);
    }
    if (kept == 0 || queue_->park(shared_from_this(), kept)) return 0;
  }
}

/// Carries out a split; of the others it makes the call that is to be sent.
DATAFLUX_INLINE result<list_coordinator::call_ptr> list_coordinator::perform(
    const list_action& action) {
  if (action.what == list_action::kind::probe || action.what == list_action::kind::peek) {
    return make_probe(action);
  }
  const auto found = ranges_.find(action.range);
  if (found == ranges_.end() || !found->second.open) {
    return failure(errc::internal, "an action for a range that is not open");
  }
  list_range& range = found->second;
  if (action.what == list_action::kind::split) {
    if (auto done = split(action); !done) return std::move(done).error();
    return call_ptr{};
  }
  if (range.in_flight) range.token.clear();  // it led to where the page in flight began
  return make_page(action.range, action.max_results);
}

DATAFLUX_INLINE result<void> list_coordinator::split(const list_action& action) {
  list_range& left = ranges_.at(action.range);
  // What has been listed cannot be cut off any more.
  const name_range rest{std::max(left.names.start, std::string(left.position.last())),
                        left.names.end};
  if (!is_cut(rest, action.at, request_.prefix, request_.delimiter) ||
      ranges_.contains(action.id)) {
    return failure(errc::internal, "a bad cut at " + in_quotes(action.at) + " of the names from " +
                                       in_quotes(rest.start) + " to " + in_quotes(rest.end));
  }
  list_range& right = ranges_[action.id];
  right.names = {action.at, std::move(left.names.end)};
  right.next = std::exchange(left.next, action.id);
  left.names.end = action.at;
  ++open_;
  return {};
}

DATAFLUX_INLINE list_coordinator::call_ptr list_coordinator::make_page(std::uint32_t id,
                                                                       std::uint32_t entries) {
  list_range& range = ranges_.at(id);
  auto call = std::make_shared<list_call>();
  call->id = id;
  call->nth = ++range.sent;
  call->asked = std::clamp<std::uint32_t>(entries, 1, page_size_);
  // A chain of tokens goes on only with the parameters that it began with. After a cut, or with
  // pages of another size, it is as cheap to begin a new one at the last name, which comes once
  // more then. Within the versions of one name that would not advance.
  const bool same = range.chain_end == range.names.end && range.chain_asked == call->asked;
  if (range.token.empty() || !(same || request_.versions)) {
    range.token.clear();
    range.chain_position.reset();
    range.chain_start = std::max(range.names.start, std::string(range.position.last()));
    range.chain_end = range.names.end;
    range.chain_asked = call->asked;
    range.chain_size = std::min(page_size_, call->asked + (range.position.begun() ? 1 : 0));
  } else {
    call->behind = range.chain_position;
  }
  list_page_request& r = call->request = as_page_request(request_);
  r.page_token = range.token;
  r.start_offset = range.chain_start == r.prefix ? std::string{} : range.chain_start;
  r.end_offset = range.chain_end;
  r.max_results = range.chain_size;
  r.limits = limits();
  range.in_flight = true;
  return call;
}

DATAFLUX_INLINE list_coordinator::call_ptr list_coordinator::make_probe(
    const list_action& action) const {
  auto call = std::make_shared<list_call>();
  call->id = action.id;
  call->probe = true;
  call->request = {.bucket = request_.bucket,
                   .prefix = action.within,
                   .delimiter = action.what == list_action::kind::probe ? "/" : "",
                   .start_offset = action.at,
                   .end_offset = action.until,
                   .max_results = std::clamp<std::uint32_t>(action.max_results, 1, page_size_),
                   .limits = limits()};
  return call;
}

DATAFLUX_INLINE void list_coordinator::send(const call_ptr& call) {
  one_more();
  ++summary_.calls;
  if (call->probe) ++summary_.probes;
  if (!queue_) return start_call(call);
  queue_->while_open([&] { start_call(call); });
}

DATAFLUX_INLINE void list_coordinator::start_call(const call_ptr& call) {
  store().start(call->request, [self = shared_from_this(), call](result<list_page> page) {
    call->page = std::move(page);
    self->come_back([&] { self->take(call); });
  });
}

/// On any thread.
DATAFLUX_INLINE void list_coordinator::take(const call_ptr& call) {
  examine(*call);
  post_step([call](list_coordinator& self) {
    self.arrived(*call);
    self.plan_soon();
  });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
