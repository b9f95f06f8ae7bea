#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/list/detail/manifest_format.hpp>
#include <dataflux/list/detail/share_call.hpp>
#include <dataflux/list/detail/share_join.hpp>
#include <dataflux/list/impl/list_coordinator.ipp>
#include <dataflux/list/impl/manifest_encoder.ipp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline constexpr std::uint32_t share_parallelism = 48;

DATAFLUX_INLINE void start_read_done(object_store& store, const read_request& request,
                                     object_store::completion<share_record> done) {
  start_read_share(
      store, request,
      [scheme = store.traits().scheme, bucket = request.bucket, object = request.object,
       done = std::move(done)](result<std::string> text) mutable {
        if (!text) return done(std::move(text).error());
        auto record = read_share_record(as_bytes(*text));
        if (!record) {
          error why = std::move(record).error();
          return done(std::move(why.with_scheme(scheme).with_bucket(bucket).with_object(object)));
        }
        done(std::move(record));
      });
}

DATAFLUX_INLINE share_call::share_call(object_store& store, const shared_list_request& request,
                                       manifest_description description, completion done)
    : share_board(store, store.executor(), request.listing.limits,
                  {request.board_bucket, request.board_prefix, request.lease},
                  or_default(request.listing.parallelism, share_parallelism), std::move(done)),
      request_(request),
      agreed_(share_description(description, request.listing.extra)),
      description_(std::move(description)) {}

DATAFLUX_INLINE void share_call::begin() {
  if (!watch_stop()) return stop_asked();
  watch_deadline();
  share(write_manifest_description(agreed_));
}

DATAFLUX_INLINE result<std::string> share_call::difference(bytes_view there) const {
  const auto other = read_manifest_description(there);
  if (!other) return other.error();
  return share_difference(*other, agreed_);
}

/// What is wrong before any call.
inline result<void> check_shared(const shared_list_request& r) {
  const auto bad = [](std::string why) { return error{errc::invalid_argument, std::move(why)}; };
  const fast_list_request& l = r.listing;
  if (auto good = check_share_place({r.board_bucket, r.board_prefix, r.lease}); !good) return good;
  if (l.order != list_order::any) return bad("order: is of a stream");
  if (l.max_calls != 0) return bad("max_calls: is of one process");
  if (l.memory_cap != 0) return bad("memory_cap: is of one process");
  if (l.on_error != list_on_error::fail) return bad("on_error: a shared listing is whole or fails");
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
  auto description = describe_listing(request.listing, {}, store.traits().scheme);
  if (good && !description) good = description.error();
  if (good) good = detail::check_description(*description);
  if (!good) {
    error why = std::move(good).error();
    why.with_scheme(store.traits().scheme);
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
