#pragma once

#include <dataflux/list/detail/list_coordinator.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Empty pages with a token, one after the other: no end is no listing. With match_glob a page is
/// what the service has searched, so that there are as many as the bucket has names.
inline constexpr std::uint32_t most_empty_glob_pages = 100'000'000;

/// On the thread where the reply came: all that costs time for each name.
DATAFLUX_INLINE void list_coordinator::examine(list_call& call) const {
  if (!call.page || call.probe || requests_stopped()) return;
  auto good = check_page(*call.page, call.request, call.behind ? &*call.behind : nullptr);
  if (!good) {
    call.page = std::move(good).error();
    return;
  }
  call.page->objects.shrink_to_fit();
  auto kept = filter_.apply(call.page->objects);
  if (kept) {
    call.kept = *std::move(kept);
  } else {
    call.page = std::move(kept).error();
  }
}

DATAFLUX_INLINE void list_coordinator::arrived(list_call& call) {
  one_less();
  if (finished_) return;
  if (call.probe) {
    take_probe(call);
  } else if (!call.page) {
    on_failure(call);
  } else if (!requests_stopped()) {
    take_page(call);
  }
}

/// Once for all replies of one turn of the executor: a plan costs as much as taking a page, and it
/// is better made for several idle slots than for one.
DATAFLUX_INLINE void list_coordinator::plan_soon() {
  if (finished_ || std::exchange(plan_due_, true)) return;
  post_step([](list_coordinator& self) {
    self.plan_due_ = false;
    self.advance();
  });
}

DATAFLUX_INLINE void list_coordinator::take_probe(const list_call& call) {
  sample_.clear();
  bool more = true;
  if (call.page) {
    sample_entries(call.page->objects, call.page->prefixes, 1, sample_);
    more = !call.page->next_page_token.empty();
  }
  splitter_.probe_answered(call.id, {.entries = sample_, .more = more});
}

DATAFLUX_INLINE void list_coordinator::keep_chain(list_range& range, list_call& call) const {
  const list_page& page = *call.page;
  range.token = page.next_page_token;
  range.chain_position = std::move(call.behind);
  if (page.objects.empty() && page.prefixes.empty()) return;
  if (!range.chain_position) range.chain_position.emplace();
  range.chain_position->advance(page.objects, page.prefixes);
  // Another range's page was further on: the names behind the token are there already.
  if (range.position.last() > range.chain_position->last()) range.token.clear();
}

DATAFLUX_INLINE void list_coordinator::take_page(list_call& call) {
  list_range& range = ranges_.at(call.id);
  const list_page& page = *call.page;
  const bool last = page.next_page_token.empty();
  std::uint32_t rest = call.id;
  page_bytes_ = std::max(page_bytes_, memory_of(page.objects, page.prefixes));
  ++summary_.pages;
  if (call.nth == range.sent) {
    range.in_flight = false;
    rest = range.next;
    if (range.open) take_own(call, last);
  }
  // Which version of a name a range begins with is not for another's page to say.
  if (!request_.versions) give_rest(rest, call, last);
  if (!finished_) tell_progress();
}

DATAFLUX_INLINE void list_coordinator::take_own(list_call& call, bool last) {
  list_range& range = ranges_.at(call.id);
  const bool empty = call.page->objects.empty() && call.page->prefixes.empty();
  if (!range.bound) {
    range.bound.emplace(call.request.match_glob.empty() ? page_bound::usual
                                                        : most_empty_glob_pages);
  }
  auto bounded = range.bound->took(!empty, call.request.page_token, call.page->next_page_token);
  if (!bounded) return fail_range(call.id, std::move(bounded).error());
  keep_chain(range, call);
  take_part(call.id, call, true, last);
}

/// A page that was in flight when its range was cut brings names of the ranges behind the cut: up
/// to its last one, or up to where it was asked to end if it was the last page, they are all there.
DATAFLUX_INLINE void list_coordinator::give_rest(std::uint32_t behind, list_call& call, bool last) {
  const list_page& page = *call.page;
  list_position reached;
  reached.advance(page.objects, page.prefixes);
  const std::string& until = call.request.end_offset;
  for (std::uint32_t id = behind; id != no_range && !finished_; id = ranges_.at(id).next) {
    const list_range& range = ranges_.at(id);
    const bool is_there = last
                              ? until.empty() || (range.names.bounded() && range.names.end <= until)
                              : range.names.start <= reached.last();
    if (!is_there) return;
    if (range.open) take_part(id, call, false, last);
  }
}

/// What a page brings of range `id` that was not there yet. `last`: nothing of it is still to come.
DATAFLUX_INLINE void list_coordinator::take_part(std::uint32_t id, list_call& call, bool own,
                                                 bool last) {
  list_range& range = ranges_.at(id);
  const list_page& page = *call.page;
  const page_part part =
      new_part(page, range.position, own ? std::string_view{} : range.names.start, range.names.end,
               request_.versions);
  const std::uint64_t entries = part.objects + part.prefixes;
  const bool open = !last && part.beyond == 0;
  if (!own && entries == 0 && open) return;
  const object_columns objects = page.objects.slice(part.first_object, part.objects);
  const auto begin = page.prefixes.begin() + static_cast<std::ptrdiff_t>(part.first_prefix);
  std::vector<std::string> prefixes(begin, begin + static_cast<std::ptrdiff_t>(part.prefixes));
  // The whole page was filtered where it arrived.
  auto kept =
      own && part.objects == page.objects.size() ? std::move(call.kept) : filter_.apply(objects);
  if (!kept) return fail_range(id, std::move(kept).error());

  sample_entries(objects, prefixes, range_splitter::stride(entries), sample_);
  range.position.advance(objects, prefixes);
  range.open = open;
  if (!open) --open_;
  if (!own && !range.in_flight) range.token.clear();  // leads to what is there already
  const list_page_report report{.entries = entries, .names = sample_, .finished = !open};
  own ? splitter_.page_ended(id, report) : splitter_.names_given(id, report);
  summary_.objects += kept->kept.size();
  summary_.bytes += kept->bytes;
  summary_.prefixes += prefixes.size();
  summary_.dropped += kept->dropped;
  deliver(range, {std::move(kept->kept), std::move(prefixes)});
}

DATAFLUX_INLINE void list_coordinator::tell_progress() {
  summary_.ranges = ranges_.size();
  const std::uint64_t expected = splitter_.expected_total();
  if (request_.parallelism == 0) {
    limit_ = std::clamp<std::size_t>(expected / (pages_per_slot * page_size_), limit_,
                                     adaptive_parallelism);
  }
  if (request_.observer == nullptr) return;
  const auto tell = [&] {
    request_.observer->on_list({.bucket = request_.bucket,
                                .prefix = request_.prefix,
                                .call = request_.call,
                                .objects = summary_.objects,
                                .expected = expected,
                                .listed = splitter_.listed(),
                                .calls = summary_.calls,
                                .calls_in_flight = in_flight(),
                                .open_ranges = open_,
                                .scheme = store().traits().scheme});
  };
  if (queue_) return queue_->while_open(tell);
  tell();
}

DATAFLUX_INLINE void list_coordinator::deliver(list_range& range, listed_page page) {
  const std::size_t bytes = memory_of(page.objects, page.prefixes);
  const bool empty = page.objects.empty() && page.prefixes.empty();
  if (!queue_) {
    waiting_bytes_ += bytes;
    range.kept.objects.append(std::move(page.objects));
    std::move(page.prefixes.begin(), page.prefixes.end(), std::back_inserter(range.kept.prefixes));
    if (request_.memory_cap != 0 && waiting_bytes_ > request_.memory_cap) {
      finish(failure(errc::resource_exhausted,
                     "the names take more than memory_cap: " + std::to_string(request_.memory_cap) +
                         " bytes; a listing that comes in batches keeps none"));
    }
    return;
  }
  if (request_.order == list_order::any) {
    if (!empty) queue_->put(std::move(page), summary_);
    return;
  }
  if (!empty) {
    waiting_bytes_ += bytes;
    range.waiting.push_back(std::move(page));
  }
  flush();
}

/// In order of names: what is no longer waiting for anything to its left.
DATAFLUX_INLINE void list_coordinator::flush() {
  if (!queue_ || request_.order == list_order::any) return;
  while (head_ != no_range) {
    list_range& range = ranges_.at(head_);
    while (!range.waiting.empty()) {
      listed_page page = std::move(range.waiting.front());
      range.waiting.pop_front();
      waiting_bytes_ -= memory_of(page.objects, page.prefixes);
      queue_->put(std::move(page), summary_);
    }
    if (range.open) return;
    head_ = range.next;
  }
}

DATAFLUX_INLINE void list_coordinator::on_failure(const list_call& call) {
  const error& cause = call.page.error();
  if (cause.code() == errc::cancelled) return finish(error(cause));
  if (cause.code() == errc::deadline_exceeded && clock().passed()) {  // see advance()
    return late_.note(cause);
  }
  list_range& range = ranges_.at(call.id);
  if (!range.open || call.nth != range.sent) return;  // another's page brings what this one should
  if (!call.request.page_token.empty() && cause.http_status() == 400) {
    range.token.clear();  // it has expired; the last name has not
    return repeat(call.id, call.asked);
  }
  fail_range(call.id, cause);  // the store has repeated what may pass
}

DATAFLUX_INLINE void list_coordinator::repeat(std::uint32_t id, std::uint32_t entries) {
  if (!may_call()) {
    return fail_range(id, {errc::resource_exhausted, "no call is left of max_calls"});
  }
  ++summary_.repeats;
  send(make_page(id, entries));
}

DATAFLUX_INLINE error list_coordinator::failure(errc code, std::string_view what) const {
  error e{
      code,
      std::string{"listing prefix "}.append(in_quotes(request_.prefix)).append(": ").append(what)};
  e.with_bucket(request_.bucket);
  return e;
}

/// Which names are missing, unless that is all of a bucket: a service that refuses the first call
/// has said enough.
DATAFLUX_INLINE error list_coordinator::described(const list_range& range,
                                                  const error& cause) const {
  const std::string from = std::max(range.names.start, std::string(range.position.last()));
  const bool all = request_.prefix.empty() && from.empty() && !range.names.bounded();
  error e(cause);
  e.with_bucket(request_.bucket);
  if (cause.bucket_missing() || (all && cause.code() != errc::internal)) return e;
  std::string message{"listing prefix "};
  message.append(in_quotes(request_.prefix)).append(", names from ").append(in_quotes(from));
  if (range.names.bounded()) message.append(" to ").append(in_quotes(range.names.end));
  e.with_message(message.append(": ").append(cause.message()));
  return e;
}

DATAFLUX_INLINE void list_coordinator::fail_range(std::uint32_t id, const error& cause) {
  list_range& range = ranges_.at(id);
  error e = described(range, cause);
  if (request_.on_error == list_on_error::fail) return finish(std::move(e));
  if (!summary_.cause) summary_.cause = std::move(e);
  range.failed = true;
  range.open = false;
  range.in_flight = false;
  --open_;
  splitter_.page_ended(id, {.finished = true});
  flush();
}

DATAFLUX_INLINE void list_coordinator::fail_open(error cause) {
  if (request_.on_error == list_on_error::fail) return finish(std::move(cause));
  if (!summary_.cause) summary_.cause = std::move(cause);
  for (auto& [id, range] : ranges_) {
    if (std::exchange(range.open, false)) range.failed = true;
  }
  open_ = 0;
  flush();
  complete();
}

/// The proof, and the end.
DATAFLUX_INLINE void list_coordinator::complete() {
  std::vector<name_range> pieces;
  pieces.reserve(ranges_.size());
  for (const auto& [id, range] : ranges_) pieces.push_back(range.names);
  if (auto whole = check_cover(whole_, std::move(pieces)); !whole) {
    return finish(failure(errc::internal, whole.error().message()));
  }
  find_missing();
  finish(std::nullopt);
}

DATAFLUX_INLINE void list_coordinator::find_missing() {
  for (std::uint32_t id = 0; id != no_range; id = ranges_.at(id).next) {
    const list_range& range = ranges_.at(id);
    if (!range.failed) continue;
    const list_position& at = range.position;
    const bool is_prefix = at.last() == at.prefix;
    // The object of that name may be still to come.
    const bool more_of_it = is_prefix
                                ? request_.include_trailing_delimiter && at.object != at.prefix
                                : request_.versions;
    auto start = at.rest(range.names.start, more_of_it);
    if (!start) continue;
    const name_range piece{*std::move(start), range.names.end};
    if (piece.empty()) continue;
    auto& missing = summary_.missing;
    if (!missing.empty() && missing.back().end == piece.start) {
      missing.back().end = piece.end;
    } else {
      missing.push_back(piece);
    }
  }
}

DATAFLUX_INLINE listing list_coordinator::assemble() {
  listing all;
  for (std::uint32_t id = 0; id != no_range; id = ranges_.at(id).next) {
    listing& kept = ranges_.at(id).kept;
    all.objects.append(std::move(kept.objects));
    std::move(kept.prefixes.begin(), kept.prefixes.end(), std::back_inserter(all.prefixes));
  }
  return all;
}

DATAFLUX_INLINE void list_coordinator::finish(std::optional<error> failed) {
  if (std::exchange(finished_, true)) return;
  unwatch();
  if (in_flight() > 0) stop_requests();
  summary_.ranges = ranges_.size();
  auto done = std::exchange(done_, {});
  listing all;
  if (done && !failed) {
    within_memory([&] { all = assemble(); }, [&] { failed = short_of_memory(); });
  }
  ranges_.clear();
  if (failed) name_store(*failed);
  if (summary_.cause) name_store(*summary_.cause);
  if (queue_) return queue_->end(std::move(failed), std::move(summary_));
  if (failed) return done(std::move(*failed));
  all.summary = std::move(summary_);
  done(std::move(all));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
