#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/detail/scheduler.hpp>
#include <dataflux/exec/detail/stop_watch.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/object_upload.hpp>
#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/transfer/upload_request.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <utility>

/// Private: what checkpoint_writer and offset_writer share: how they open, how an operation on them
/// is cancelled, how long an end may take, and how much they copy at a time.
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

/// Ends the upload, of which no part has memory; gives what it fails with.
inline error fail_for_memory(std::shared_ptr<object_upload> upload, scheduler& strand) {
  error why(errc::resource_exhausted, "there is no memory for a part");
  strand.post([upload = std::move(upload), why] { upload->fail(why); });
  return why;
}

/// Ends an upload when an operation on it is cancelled, until watch.end().
struct operation_link {
  operation_link(const std::stop_token& stop, std::shared_ptr<object_upload> of, scheduler& at)
      : upload(std::move(of)), strand(at) {
    watch.begin(stop, *this);
  }
  void stop_heard() noexcept {
    strand.post(
        [upload = upload] { upload->fail(error(errc::cancelled, "the operation was cancelled")); });
  }
  const std::shared_ptr<object_upload> upload;
  scheduler& strand;
  stop_watch watch{};
};

/// `done`, before which a stop ends the upload.
template <class T>
object_store::completion<T> stopped_by(const std::stop_token& stop,
                                       std::shared_ptr<object_upload> upload, scheduler& strand,
                                       object_store::completion<T> done) {
  auto link = std::make_shared<operation_link>(stop, std::move(upload), strand);
  return [link = std::move(link), done = std::move(done)](result<T> outcome) mutable {
    link->watch.end();
    done(std::move(outcome));
  };
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
    auto opened = stopped_by<void>(
        stop, upload, context.strand(),
        [context, upload, make, done = std::move(done)](result<void> outcome) mutable {
          if (!outcome) return done(std::move(outcome).error());
          done(Writer(make(context, std::move(upload))));
        });
    context.strand().post(
        [upload, opened = std::move(opened)]() mutable { upload->open(std::move(opened)); });
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
