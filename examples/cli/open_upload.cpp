#include "open_upload.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "again.hpp"
#include "location.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::result;

namespace {

/// Between this clock and the service's.
constexpr std::chrono::seconds clocks_apart{2};

/// Failures after which an upload may be there: all but the service's clear refusals, and but those
/// of a service that could not even be reached, which the client has tried often enough.
bool may_have_begun(const error& e) noexcept {
  if (e.attempts() >= patience) return false;
  return e.retryable() || e.code() == errc::deadline_exceeded;
}

class beginning : public std::enable_shared_from_this<beginning> {
 public:
  beginning(job& from, dataflux::multipart_initiate_request request, dataflux::timestamp now,
            dataflux::object_store::completion<dataflux::multipart_upload> done)
      : from_(from),
        request_(std::move(request)),
        earliest_(now - clocks_apart),
        done_(std::move(done)) {
    request_.limits = to_the_end();
  }

  void start() {
    from_.store.start(request_,
                      [self = shared_from_this()](result<dataflux::multipart_upload> got) {
                        if (got || !may_have_begun(got.error())) return self->done_(std::move(got));
                        self->failure_ = std::move(got).error();
                        self->look();
                      });
  }

 private:
  void look() {
    const dataflux::list_uploads_request all{
        .bucket = request_.bucket, .prefix = request_.object, .limits = to_the_end()};
    from_.store.start(all, [self = shared_from_this()](result<dataflux::upload_page> page) {
      if (!page) return self->leave();
      std::optional<std::string> found;
      for (auto& upload : page->uploads) {
        if (upload.object != self->request_.object) continue;
        if (upload.initiated && *upload.initiated < self->earliest_) continue;
        if (found) return self->leave();
        found = std::move(upload.upload_id);
      }
      found ? self->look_at(*found) : self->again();
    });
  }

  void look_at(const std::string& upload_id) {
    const dataflux::list_parts_request parts{.bucket = request_.bucket,
                                             .object = request_.object,
                                             .upload_id = upload_id,
                                             .limits = to_the_end()};
    from_.store.start(
        parts, [self = shared_from_this(), upload_id](const result<dataflux::part_page>& page) {
          if (!page || !page->parts.empty()) return self->leave();
          abort_upload(self->from_, self->request_.bucket, self->request_.object, upload_id,
                       [self] { self->again(); });
        });
  }

  void again() {
    if (from_.stop.stop_requested()) return done_(error(errc::cancelled, "stopped"));
    if (++tries_ == most_tries || from_.ended()) return done_(std::move(*failure_));
    auto& executor = from_.store.executor();
    executor.at(executor.now() + jittered_wait(tries_),
                [self = shared_from_this()] { self->start(); });
  }

  void leave() {
    const std::string name = shown_url(request_.bucket, request_.object);
    from_.report.note("an upload of " + name +
                      " may have begun and be left open; see `dataflux uploads list " + name + "`");
    done_(std::move(*failure_));
  }

  job& from_;
  dataflux::multipart_initiate_request request_;
  const dataflux::timestamp earliest_;
  dataflux::object_store::completion<dataflux::multipart_upload> done_;
  std::optional<error> failure_{};
  int tries_{0};
};

}  // namespace

void begin_upload(job& from, dataflux::multipart_initiate_request request, dataflux::timestamp now,
                  dataflux::object_store::completion<dataflux::multipart_upload> done) {
  std::make_shared<beginning>(from, std::move(request), now, std::move(done))->start();
}

dataflux::timestamp system_now() {
  return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
}

void abort_upload(job& from, const std::string& bucket, const std::string& object,
                  const std::string& upload_id, dataflux::unique_function<void()> done) {
  from.store.start(
      dataflux::multipart_abort_request{
          .bucket = bucket, .object = object, .upload_id = upload_id, .limits = to_the_end()},
      [&from, name = shown_url(bucket, object),
       done = std::move(done)](const result<void>& aborted) mutable {
        if (!aborted && aborted.error().code() != errc::not_found) {
          from.report.note("an unfinished upload of " + name +
                           " is left, see `dataflux uploads list " + name +
                           "`: " + explain(aborted.error()));
        }
        done();
      });
}

}  // namespace cli
