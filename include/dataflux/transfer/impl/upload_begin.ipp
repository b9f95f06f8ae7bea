#pragma once

#include <dataflux/exec/continuation.hpp>
#include <dataflux/transfer/detail/upload_begin.hpp>

#include <chrono>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr int most_begin_tries = 4;
/// Of each request.
inline constexpr duration begin_patience = std::chrono::seconds(30);
/// The service's stamps may be so much off each other.
inline constexpr duration begin_tolerance = std::chrono::seconds(2);

DATAFLUX_INLINE upload_begin::upload_begin(object_store& store, scheduler& home,
                                           multipart_initiate_request request, bool own_name,
                                           std::shared_ptr<bool> left, completion done)
    : store_(store),
      home_(home),
      request_(std::move(request)),
      own_name_(own_name),
      left_(std::move(left)),
      done_(std::move(done)),
      began_(home.now()) {
  request_.limits = {.timeout = begin_patience};
}

template <class T, class Step>
object_store::completion<T> upload_begin::then(Step step) {
  return continue_on<T>(home_, shared_from_this(), std::move(step));
}

DATAFLUX_INLINE void upload_begin::start() {
  ++tries_;
  store_.start(request_, then<multipart_upload>([](upload_begin& self, auto made) {
                 if (made) return self.done_(std::move(made));
                 const error& why = made.error();
                 // A success that nobody can read has begun one.
                 const bool may_have_begun = why.retryable() ||
                                             why.code() == errc::deadline_exceeded ||
                                             why.http_status() / 100 == 2;
                 if (!self.failure_) self.failure_ = why;
                 if (!may_have_begun) return self.done_(*self.failure_);
                 self.look();
               }));
}

/// By the service's clock, which its stamps are by.
DATAFLUX_INLINE void upload_begin::look() {
  if (own_name_) return look_for(std::nullopt);
  store_.start(
      list_page_request{.bucket = request_.bucket,
                        .prefix = request_.object,
                        .max_results = 1,
                        .limits = {.timeout = begin_patience}},
      then<list_page>([](upload_begin& self, result<list_page> page) {
        if (!page || !page->served) return self.leave();
        const duration since = self.home_.now() - self.began_ + begin_tolerance;
        self.look_for(*page->served - std::chrono::duration_cast<timestamp::duration>(since));
      }));
}

DATAFLUX_INLINE void upload_begin::look_for(std::optional<timestamp> earliest) {
  store_.start(list_uploads_request{.bucket = request_.bucket,
                                    .prefix = request_.object,
                                    .limits = {.timeout = begin_patience}},
               then<upload_page>([earliest](upload_begin& self, const result<upload_page>& page) {
                 self.looked(page, earliest);
               }));
}

DATAFLUX_INLINE void upload_begin::looked(const result<upload_page>& page,
                                          std::optional<timestamp> earliest) {
  if (!page) return leave();
  std::vector<std::string> found;
  for (const listed_upload& upload : page->uploads) {
    if (upload.object != request_.object) continue;
    if (earliest && upload.initiated && *upload.initiated < *earliest) continue;
    found.push_back(upload.upload_id);
  }
  if (own_name_ || found.empty()) return remove(std::move(found));
  if (found.size() > 1) return leave();
  look_at_parts(found.front());
}

DATAFLUX_INLINE void upload_begin::look_at_parts(const std::string& upload_id) {
  store_.start(list_parts_request{.bucket = request_.bucket,
                                  .object = request_.object,
                                  .upload_id = upload_id,
                                  .limits = {.timeout = begin_patience}},
               then<part_page>([upload_id](upload_begin& self, const result<part_page>& parts) {
                 if (!parts || !parts->parts.empty()) return self.leave();
                 self.remove({upload_id});
               }));
}

DATAFLUX_INLINE void upload_begin::remove(std::vector<std::string> upload_ids) {
  if (upload_ids.empty()) return again();
  multipart_abort_request last{.bucket = request_.bucket,
                               .object = request_.object,
                               .upload_id = std::move(upload_ids.back()),
                               .limits = {.timeout = begin_patience}};
  upload_ids.pop_back();
  store_.start(last, then<void>([rest = std::move(upload_ids)](
                                    upload_begin& self, const result<void>& aborted) mutable {
                 const bool gone = aborted || aborted.error().code() == errc::not_found;
                 if (!gone) return self.leave();
                 self.remove(std::move(rest));
               }));
}

DATAFLUX_INLINE void upload_begin::again() {
  if (tries_ == most_begin_tries) return done_(*failure_);
  const duration wait = std::chrono::milliseconds(250) * (1 << tries_);
  home_.at(home_.now() + wait, [self = shared_from_this()] { self->start(); });
}

DATAFLUX_INLINE void upload_begin::leave() {
  *left_ = true;
  done_(*failure_);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
