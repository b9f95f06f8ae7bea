#pragma once

#include <dataflux/transfer/detail/upload_begin.hpp>

#include <chrono>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr int most_begin_tries = 4;
/// Of each request.
inline constexpr duration begin_timeout = std::chrono::seconds(30);
/// The service's stamps may be so much off each other.
inline constexpr duration begin_tolerance = std::chrono::seconds(2);

DATAFLUX_INLINE upload_begin::upload_begin(multipart_initiate_request request, bool own_name,
                                           time_point now)
    : request_(std::move(request)), own_name_(own_name), began_(now) {
  request_.limits = {.timeout = begin_timeout};
}

DATAFLUX_INLINE upload_begin::step upload_begin::call(upload_step what, upload_verb request) {
  asked_ = what;
  return upload_call{.step = what, .request = std::move(request), .bounded = false};
}

DATAFLUX_INLINE upload_begin::step upload_begin::start() {
  ++tries_;
  return call(upload_step::begin, request_);
}

DATAFLUX_INLINE upload_begin::step upload_begin::answered(upload_answer answer, time_point now) {
  switch (asked_) {
    case upload_step::service_time: {
      const auto& page = answer.get<result<list_page>>();
      if (!page || !page->served) return leave();
      const duration since = now - began_ + begin_tolerance;
      return find_uploads(*page->served - std::chrono::duration_cast<timestamp::duration>(since));
    }
    case upload_step::find_uploads:
      return found(answer.get<result<upload_page>>());
    case upload_step::find_parts: {
      const auto& page = answer.get<result<part_page>>();
      if (!page || !page->parts.empty()) return leave();
      return abort_next();
    }
    case upload_step::abort_lost: {
      const auto& aborted = answer.get<result<void>>();
      if (!aborted && aborted.error().code() != errc::not_found) {
        return own_name_ ? begin_beside() : leave();
      }
      return abort_next();
    }
    default:
      return begun(std::move(answer.get<result<multipart_upload>>()));
  }
}

DATAFLUX_INLINE upload_begin::step upload_begin::begun(result<multipart_upload> made) {
  if (made) return made;
  const error& why = made.error();
  // A success that nobody can read has begun one.
  const bool may_have_begun =
      why.retryable() || why.code() == errc::deadline_exceeded || why.http_status() / 100 == 2;
  if (!failure_) failure_ = why;
  if (!may_have_begun) return result<multipart_upload>(*failure_);
  if (own_name_) return find_uploads(std::nullopt);
  // By the service's clock, which its stamps are by.
  return call(upload_step::service_time, list_page_request{.bucket = request_.bucket,
                                                           .prefix = request_.object,
                                                           .max_results = 1,
                                                           .limits = request_.limits});
}

DATAFLUX_INLINE upload_begin::step upload_begin::find_uploads(std::optional<timestamp> earliest) {
  earliest_ = earliest;
  walk_.emplace(list_uploads_request{.bucket = request_.bucket, .prefix = request_.object});
  return call(upload_step::find_uploads, walk_->next(request_.limits));
}

DATAFLUX_INLINE upload_begin::step upload_begin::found(const result<upload_page>& page) {
  if (!page || !walk_->take(*page)) return own_name_ ? begin_beside() : leave();
  for (const listed_upload& upload : page->uploads) {
    if (upload.object != request_.object) continue;
    if (earliest_ && upload.initiated && *upload.initiated < *earliest_) continue;
    lost_.push_back(upload.upload_id);
  }
  // The names that begin with this one come behind it; its own may take more than a page.
  const bool beyond = !page->uploads.empty() && page->uploads.back().object != request_.object;
  if (!walk_->ended() && !beyond) {
    return call(upload_step::find_uploads, walk_->next(request_.limits));
  }
  if (own_name_ || lost_.empty()) return abort_next();
  if (lost_.size() > 1) return leave();
  return call(upload_step::find_parts, list_parts_request{.bucket = request_.bucket,
                                                          .object = request_.object,
                                                          .upload_id = lost_.front(),
                                                          .limits = request_.limits});
}

DATAFLUX_INLINE upload_begin::step upload_begin::abort_next() {
  if (!lost_.empty()) {
    multipart_abort_request last{.bucket = request_.bucket,
                                 .object = request_.object,
                                 .upload_id = std::move(lost_.back()),
                                 .limits = request_.limits};
    lost_.pop_back();
    return call(upload_step::abort_lost, std::move(last));
  }
  if (tries_ == most_begin_tries) return result<multipart_upload>(*failure_);
  return upload_wait{std::chrono::milliseconds(250) * (1 << tries_)};
}

/// What may have begun is nobody else's, and nobody will take it for an object.
DATAFLUX_INLINE upload_begin::step upload_begin::begin_beside() {
  left_ = true;
  return abort_next();
}

DATAFLUX_INLINE upload_begin::step upload_begin::leave() {
  left_ = true;
  return result<multipart_upload>(*failure_);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
