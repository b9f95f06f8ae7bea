#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/detail/limit_watch.hpp>
#include <dataflux/exec/detail/scheduler.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/object_upload.hpp>
#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/transfer/upload_request.hpp>

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

/// Private: what checkpoint_writer and offset_writer share: how they open, how a call on them ends
/// before its time, how long an end may take, and how much they copy at a time.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// What is copied is checksummed while it is in the second-level cache.
inline constexpr std::size_t copied_at_once = std::size_t{64} << 10U;

/// For the destructor, and each request of its cleaning up.
inline constexpr duration destructor_timeout = std::chrono::seconds(5);
inline constexpr duration abort_timeout = std::chrono::seconds(60);

/// What a writer says that is used after its end.
inline error writer_ended() {
  return {errc::failed_precondition, "the writer has been committed or aborted"};
}

/// Of what is ended without anybody who waits for that.
inline void nobody_waits(const result<void>& /*outcome*/) noexcept {}

/// Ends the upload, of which no part has memory; gives what it fails with.
inline error fail_for_memory(std::shared_ptr<object_upload> upload, scheduler& strand) {
  error why(errc::resource_exhausted, "there is no memory for a part");
  strand.post([upload = std::move(upload), why] { upload->fail(why); });
  return why;
}

/// `done`, before which the limits of the call end the upload. Where memory is short `done` stays,
/// here and below.
template <class T>
object_store::completion<T> limited_by(const call_limits& limits,
                                       std::shared_ptr<object_upload> upload, scheduler& strand,
                                       object_store::completion<T>& done) {
  struct ending {
    std::shared_ptr<limit_watch> watch{};
    object_store::completion<T> done{};
  };
  auto end = std::make_shared<ending>();
  end->watch = limit_watch::begin(
      strand, limits, [upload = std::move(upload)](error why) { upload->fail(std::move(why)); });
  if (end->watch == nullptr) return std::move(done);
  end->done = std::move(done);
  return [end = std::move(end)](result<T> outcome) {
    end->watch->end();
    end->done(std::move(outcome));
  };
}

/// `done`, called before the outcome when the limits of the call pass.
inline object_store::completion<void> no_longer_than(const call_limits& limits, scheduler& strand,
                                                     object_store::completion<void>& done) {
  struct ending {
    std::shared_ptr<limit_watch> watch{};
    object_store::completion<void> done{};
    void come(result<void> outcome) {
      if (auto first = std::exchange(watch, {})) first->end();
      if (auto call = std::exchange(done, {})) call(std::move(outcome));
    }
  };
  auto end = std::make_shared<ending>();
  end->watch = limit_watch::begin(strand, limits, [waits = std::weak_ptr(end)](error why) {
    if (const auto there = waits.lock()) there->come(std::move(why));
  });
  end->done = std::move(done);
  return [end = std::move(end)](result<void> outcome) { end->come(std::move(outcome)); };
}

/// Commits, unless `why` says what the writer has failed with. On the strand.
inline void end_upload(object_upload& upload, std::optional<error> why, const call_limits& limits,
                       scheduler& strand, std::optional<upload_piece> last,
                       object_store::completion<committed_object> done) {
  if (why) upload.fail(*std::move(why));
  within_memory([&] { done = limited_by(limits, upload.shared_from_this(), strand, done); },
                [&] { upload.fail(short_of_memory()); });
  upload.finish(std::move(last), std::move(done));
}

/// Aborts; without memory for the limits it waits for the end of the cleaning up. On the strand.
inline void abort_upload(object_upload& upload, duration timeout, const call_limits& limits,
                         scheduler& strand, object_store::completion<void> done) {
  within_memory([&] { done = no_longer_than(limits, strand, done); });
  upload.abort(timeout, std::move(done));
}

template <class State>
void abort_and_wait(State& state) {
  const auto told = std::make_shared<std::promise<void>>();
  const auto over = told->get_future();
  state.start_abort(destructor_timeout, {}, [told](const result<void>&) { told->set_value(); });
  if (!state.context.strand().is_current()) static_cast<void>(over.wait_for(destructor_timeout));
}

/// What the destructor of a writer that was not committed does. On the strand it cannot wait, nor
/// where memory is short.
template <class State>
void drop_writer(State& state) noexcept {
  const auto drop = [&state] {
    state.context.strand().post(
        [upload = state.upload] { upload->abort(destructor_timeout, nobody_waits); });
  };
  within_memory([&] { abort_and_wait(state); }, drop);
}

/// What may make a writer. `make` gives its state, on the strand, when the upload is open.
class writer_opening {
 public:
  template <class Writer, class Make>
  static void start(const transfer_context& context, upload_request request,
                    const std::stop_token& stop, object_store::completion<Writer> done, Make make) {
    if (auto good = context.store().check_not_forked(request.bucket, request.object); !good) {
      return done(std::move(good).error());
    }
    auto upload = std::make_shared<object_upload>(context, std::move(request));
    object_store::completion<void> opened = [context, upload, make,
                                             done = std::move(done)](result<void> outcome) mutable {
      if (!outcome) return done(std::move(outcome).error());
      decltype(make(context, upload)) state;
      if (!within_memory([&] { state = make(context, upload); })) {
        upload->abort(abort_timeout, nobody_waits);
        return done(short_of_memory());
      }
      done(Writer(std::move(state)));
    };
    opened = limited_by<void>({.stop = stop}, upload, context.strand(), opened);
    context.strand().post([upload, opened = std::move(opened)]() mutable {
      upload->open(upload_memory::source::producer, std::move(opened));
    });
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
