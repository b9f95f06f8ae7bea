#pragma once

#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/detail/collecting_sink.hpp>
#include <dataflux/detail/or_default.hpp>
#include <dataflux/detail/unique_name.hpp>
#include <dataflux/list/detail/manifest_format.hpp>
#include <dataflux/list/detail/share_call.hpp>
#include <dataflux/list/detail/share_join.hpp>
#include <dataflux/list/impl/list_coordinator.ipp>
#include <dataflux/list/impl/manifest_encoder.ipp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// Tasks of a process at a time, each with its part of the calls in flight.
inline constexpr std::size_t share_lanes = 12;
inline constexpr std::uint32_t share_parallelism = 48;
inline constexpr duration usual_share_lease = std::chrono::minutes(5);
/// Between two looks when nothing is to be taken: from the first of these up to the other.
inline constexpr duration least_share_pause = std::chrono::milliseconds(50);
inline constexpr duration most_share_pause = std::chrono::seconds(1);
inline constexpr std::size_t longest_share_object = std::size_t{16} << 20U;
inline constexpr std::size_t full_page = 1000;
/// Names on the board have a kind, a task and a token behind it, in 1,024 bytes.
inline constexpr std::size_t longest_board_prefix = 512;
/// Of a look, for each page that the last one took: many processes look at the same time.
inline constexpr duration share_pause_per_page = std::chrono::milliseconds(200);

DATAFLUX_INLINE void start_read_share(object_store& store, const read_request& request,
                                      object_store::completion<std::string> done) {
  auto memory = std::make_shared<collecting_sink>(buffer_pool{0});
  memory->reset(longest_share_object, collecting_sink::excess::refuse);
  byte_sink& sink = *memory;
  store.start(
      request, sink,
      [memory = std::move(memory), done = std::move(done)](result<read_summary> outcome) mutable {
        if (!outcome) return done(std::move(outcome).error());
        done(std::string(as_text(memory->bytes())));
      });
}

DATAFLUX_INLINE void start_read_done(object_store& store, const read_request& request,
                                     object_store::completion<share_record> done) {
  start_read_share(store, request,
                   [bucket = request.bucket, object = request.object,
                    done = std::move(done)](result<std::string> text) mutable {
                     if (!text) return done(std::move(text).error());
                     auto record = read_share_record(as_bytes(*text));
                     if (!record) {
                       error why = std::move(record).error();
                       return done(std::move(why.with_bucket(bucket).with_object(object)));
                     }
                     done(std::move(record));
                   });
}

DATAFLUX_INLINE share_call::share_call(object_store& store, const shared_list_request& request,
                                       manifest_description description, completion done)
    : call_coordinator(store, store.executor(), request.listing.limits, std::move(done)),
      request_(request),
      agreed_(share_description(description, request.listing.extra)),
      token_(hashed_name("", std::to_string(system_entropy::bits()))),
      text_(write_manifest_description(agreed_)),
      parallelism_(or_default(request.listing.parallelism, share_parallelism)),
      lease_(or_default(request.lease, usual_share_lease)),
      description_(std::move(description)),
      plan_(system_entropy::bits(), lease_, std::min<std::size_t>(share_lanes, parallelism_)) {}

DATAFLUX_INLINE std::string share_call::on_board(std::string_view kind,
                                                 std::string_view rest) const {
  return std::string(request_.board_prefix).append(kind).append(rest);
}

DATAFLUX_INLINE insert_request share_call::creation(std::string object, bytes_view data) const {
  return {.bucket = request_.board_bucket,
          .object = std::move(object),
          .data = data,
          .conditions = {.if_generation_match = 0},
          .limits = limits()};
}

DATAFLUX_INLINE void share_call::begin() {
  if (!watch_stop()) return stop_asked();
  watch_deadline();
  store().start(creation(on_board(share_listing_name), as_bytes(text_)),
                then<object_metadata>([](share_call& self, const result<object_metadata>& made) {
                  if (!self.failed()) self.agree(made);
                }));
}

/// Whoever creates the object has said what is listed; all others compare.
DATAFLUX_INLINE void share_call::agree(const result<object_metadata>& made) {
  if (made) {
    description_.taken = made->created.value_or(timestamp{});
    return join_crew();
  }
  if (made.error().code() != errc::already_exists) return fail(made.error());
  start_read_share(
      store(),
      {.bucket = request_.board_bucket, .object = on_board(share_listing_name), .limits = limits()},
      then<std::string>([](share_call& self, result<std::string> text) {
        if (self.failed()) return;
        if (!text) return self.fail(std::move(text).error());
        self.compare(read_manifest_description(as_bytes(*text)));
      }));
}

DATAFLUX_INLINE void share_call::compare(result<manifest_description> there) {
  const auto refuse = [&](error why) {
    fail(std::move(
        why.with_bucket(request_.board_bucket).with_object(on_board(share_listing_name))));
  };
  if (!there)
    return refuse({errc::data_loss, "the board's listing is not what this library wrote"});
  if (const std::string what = share_difference(*there, agreed_); !what.empty()) {
    return refuse(
        {errc::invalid_argument, "the board is of another listing, with another " + what +
                                     ": choose another board, or remove what lies on this one"});
  }
  store().start(stat_request{.bucket = request_.board_bucket,
                             .object = on_board(share_listing_name),
                             .fields = metadata_fields::created,
                             .limits = limits()},
                then<object_metadata>([](share_call& self, result<object_metadata> found) {
                  if (self.failed()) return;
                  if (!found) return self.fail(std::move(found).error());
                  self.description_.taken = found->created.value_or(timestamp{});
                  self.join_crew();
                }));
}

/// Nobody else makes an object of that name: one that is there is of a request that came twice.
DATAFLUX_INLINE void share_call::join_crew() {
  store().start(creation(on_board(share_crew, token_), {}),
                then<object_metadata>([](share_call& self, result<object_metadata> made) {
                  if (self.failed()) return;
                  if (!made && made.error().code() != errc::already_exists) {
                    return self.fail(std::move(made).error());
                  }
                  self.look();
                }));
}

/// After each task: the next one, behind a look where what is known is old.
DATAFLUX_INLINE void share_call::advance() {
  if (failed() || looking_) return;
  if (!plan_.whole() && plan_.must_look()) return look();
  take_tasks();
}

DATAFLUX_INLINE void share_call::take_tasks() {
  if (plan_.whole()) {
    // A task that another process was faster with ends, too, and takes its part away.
    if (jobs_ == 0 && !joining_) join();
    return;
  }
  const auto lanes = std::min<std::uint64_t>(share_lanes, parallelism_);
  while (jobs_ < lanes) {
    auto task = plan_.next(strand().now());
    if (!task) return rest();
    pause_ = duration{0};
    auto j = std::make_shared<job>();
    j->slots = std::max(1U, parallelism_ / static_cast<std::uint32_t>(task->lanes));
    j->calls = task->calls;
    j->task = *std::move(task);
    ++jobs_;
    claim(j);
  }
}

DATAFLUX_INLINE void share_call::look() {
  looking_ = true;
  fast_list_request board{.bucket = request_.board_bucket,
                          .prefix = request_.board_prefix,
                          .start_offset = on_board(share_claim),
                          .end_offset = after_prefix(on_board(share_done)),
                          .extra = extra_columns::metadata,
                          .parallelism = board_rows_ < full_page ? 1U : 8U,
                          .limits = limits()};
  start_fast_list(store(), board, then<listing>([](share_call& self, result<listing> seen) {
                    self.looking_ = false;
                    if (!self.failed()) self.looked(std::move(seen));
                  }));
}

DATAFLUX_INLINE void share_call::looked(result<listing> board) {
  if (!board) return fail(std::move(board).error());
  const time_point now = strand().now();
  board_rows_ = board->objects.size();
  for (auto row = board->objects.begin(); row != board->objects.end(); ++row) {
    const std::string_view name = (*row).name.substr(request_.board_prefix.size());
    if (name.starts_with(share_crew)) plan_.saw_rank(name);
    if (name.starts_with(share_claim) && share_plan::is_task(name.substr(share_claim.size()))) {
      plan_.saw_claim(name.substr(share_claim.size()), (*row).generation, now);
    }
    if (!name.starts_with(share_done)) continue;
    const std::string_view id = name.substr(share_done.size());
    const auto found = find_share_mark(row.extras().metadata);
    if (!share_plan::is_task(id) || !found) {
      return fail(error(errc::data_loss, "an object of the board is not what this library writes")
                      .with_bucket(request_.board_bucket)
                      .with_object((*row).name));
    }
    if (!plan_.done(id)) summary_.objects += found->rows;
    plan_.saw_done(id, found->children);
  }
  plan_.looked();
  take_tasks();
}

/// Nothing is to be taken: what others do, or leave, a later look shows.
DATAFLUX_INLINE void share_call::rest() {
  if (resting_ != timer_id::none) return;
  const auto pages = static_cast<std::int64_t>(board_rows_ / full_page);
  const duration most =
      std::max(most_share_pause, std::min(pages * share_pause_per_page, lease_ / 4));
  pause_ = std::clamp(2 * pause_, least_share_pause, most);
  resting_ = strand().at(strand().now() + pause_, [self = shared_from_this()] {
    self->resting_ = timer_id::none;
    if (self->completed() || self->failed() || self->looking_) return;
    self->make_step([](share_call& here) { here.look(); });
  });
}

/// What is wrong before any call.
inline result<void> check_shared(const shared_list_request& r) {
  const auto bad = [](std::string why) { return error{errc::invalid_argument, std::move(why)}; };
  const fast_list_request& l = r.listing;
  if (r.board_bucket.empty()) return bad("board_bucket: is empty");
  if (r.board_prefix.empty()) return bad("board_prefix: is empty");
  if (r.board_prefix.size() > longest_board_prefix) {
    return bad("board_prefix: has " + std::to_string(r.board_prefix.size()) +
               " bytes, of at most " + std::to_string(longest_board_prefix));
  }
  if (!codec::is_valid_utf8(r.board_prefix)) return bad("board_prefix: must be UTF-8");
  if (l.order != list_order::any) return bad("order: is of a stream");
  if (l.max_calls != 0) return bad("max_calls: is of one process");
  if (l.memory_cap != 0) return bad("memory_cap: is of one process");
  if (l.on_error != list_on_error::fail) return bad("on_error: a shared listing is whole or fails");
  if (r.lease < duration{0}) return bad("lease: is negative");
  const name_range board = name_range::of_prefix(r.board_prefix);
  if (r.board_bucket == l.bucket && !board.intersect(range_of(l)).empty()) {
    return bad("board_prefix: the board lies in what is listed");
  }
  return {};
}

}  // namespace detail

DATAFLUX_INLINE void start_list_shared(object_store& store, const shared_list_request& request,
                                       object_store::completion<shared_list_summary> done) {
  auto good = detail::check(request.listing);
  if (good) good = detail::check_shared(request);
  auto description = describe_listing(request.listing, {});
  if (good && !description) good = description.error();
  if (good) good = detail::check_description(*description);
  if (!good) {
    error why = std::move(good).error();
    return done(std::move(why.with_bucket(request.listing.bucket)));
  }
  std::make_shared<detail::share_call>(store, request, *std::move(description), std::move(done))
      ->start(request.listing.bucket);
}

DATAFLUX_INLINE operation<shared_list_summary> submit_list_shared(object_store& store,
                                                                  shared_list_request request) {
  return start_operation<shared_list_summary>(request.listing.limits, [&](auto done) {
    start_list_shared(store, request, std::move(done));
  });
}

DATAFLUX_INLINE result<shared_list_summary> list_shared(object_store& store,
                                                        shared_list_request request) {
  return submit_list_shared(store, std::move(request)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI
