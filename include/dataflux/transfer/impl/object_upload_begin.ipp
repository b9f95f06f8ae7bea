#pragma once

#include <dataflux/transfer/detail/upload_begin.hpp>
#include <dataflux/transfer/object_upload.hpp>
#include <dataflux/transfer/temporary_object.hpp>
#include <dataflux/transfer/transfer_state.hpp>

#include <string>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline bool is_not_permitted(const error& e) noexcept {
  return e.code() == errc::permission_denied || e.code() == errc::unimplemented;
}

}  // namespace detail

DATAFLUX_INLINE std::string object_upload::folder_key() const {
  const std::size_t slash = request_.object.rfind('/');
  return request_.bucket + '/' +
         (slash == std::string::npos ? std::string{} : request_.object.substr(0, slash));
}

DATAFLUX_INLINE void object_upload::begin() {
  phase_ = phase::beginning;
  path_ = upload_path::multipart;
  if (mode_ == commit_mode::direct) return initiate();
  temporary_ = temporary_object_name(request_.object);
  const auto known = state_->uploads.staging.find(folder_key());
  if (known == state_->uploads.staging.end()) return probe();
  versioned_ = known->second.versioned;
  if (!known->second.refused.empty()) {
    fall_back(known->second.refused);
    mode_ = commit_mode::direct;
  }
  initiate();
}

/// What the object's own permissions are, and not what a bucket says of itself: permissions may be
/// given for folders. But a policy of the bucket shows only in objects that are there.
DATAFLUX_INLINE void object_upload::probe() {
  in_flight_ += 3;
  const auto told = [this] {
    return then<void>([](object_upload& self, const result<void>& r) { self.probed(r); });
  };
  store().start(remove_request{.bucket = request_.bucket, .object = temporary_, .limits = limits()},
                told());
  store().start(move_request{.bucket = request_.bucket,
                             .source = temporary_,
                             .object = request_.object,
                             .limits = limits()},
                then<object_metadata>([](object_upload& self, const auto& moved) {
                  self.probed(moved ? result<void>() : result<void>(moved.error()));
                }));
  store().start(bucket_request{.bucket = request_.bucket, .limits = limits()},
                then<bucket_metadata>(
                    [](object_upload& self, const auto& bucket) { self.told_of_bucket(bucket); }));
}

/// Where the bucket may not be looked at, a move that is refused tells.
DATAFLUX_INLINE void object_upload::told_of_bucket(const result<bucket_metadata>& bucket) {
  if (!bucket) return probed({});
  versioned_ = bucket->versioning;
  if (bucket->retention_seconds > 0) {
    return probed(
        error(errc::permission_denied, "by the bucket's retention policy objects stay for " +
                                           std::to_string(bucket->retention_seconds) + " s"));
  }
  if (bucket->default_event_based_hold) {
    return probed(error(errc::permission_denied, "the bucket places a hold on new objects"));
  }
  probed({});
}

DATAFLUX_INLINE void object_upload::probed(const result<void>& outcome) {
  --in_flight_;
  if (failure_) return clean();
  if (!outcome && detail::is_not_permitted(outcome.error()) && mode_ == commit_mode::staged) {
    fall_back("temporary objects may not be removed or moved here: " + outcome.error().message());
    mode_ = commit_mode::direct;
  }
  if (!quiet()) return;  // other answers are to come
  initiate();
}

DATAFLUX_INLINE void object_upload::initiate() {
  ++in_flight_;
  const bool staged = mode_ == commit_mode::staged;
  auto request = detail::with_attributes<multipart_initiate_request>(
      request_, staged ? temporary_ : request_.object);
  asked_ = context_.home().now();
  std::make_shared<detail::upload_begin>(
      store(), context_.home(), std::move(request), staged, left_open_,
      then<multipart_upload>([](object_upload& self, auto made) { self.initiated(made); }))
      ->start();
}

DATAFLUX_INLINE void object_upload::initiated(result<multipart_upload> made) {
  --in_flight_;
  const bool staged = mode_ == commit_mode::staged;
  if (made) begun_ = {*made, staged ? temporary_ : request_.object, mode_};
  if (failure_) return clean();
  if (made) {
    state_->uploads.answered(context_.home().now() - asked_);
    if (staged) state_->uploads.staging.try_emplace(folder_key()).first->second = {versioned_, {}};
    phase_ = phase::sending;
    if (on_begun_) on_begun_(*begun_);
    return pump();
  }
  if (!detail::is_not_permitted(made.error())) return fail(made.error());
  if (staged) {
    fall_back("no temporary object may be uploaded here: " + made.error().message());
    mode_ = commit_mode::direct;
    return initiate();
  }
  fall_back("no multipart upload is permitted here: " + made.error().message());
  start_resumable();
}

DATAFLUX_INLINE void object_upload::fall_back(const std::string& why) {
  if (!fallback_.empty()) fallback_ += "; ";
  fallback_ += why;
  if (request_.watcher == nullptr) return;
  request_.watcher->on_log(
      log_level::warning, "upload of gs://" + request_.bucket + '/' + request_.object + ": " + why);
}

DATAFLUX_INLINE void object_upload::start_resumable() {
  path_ = upload_path::resumable;
  mode_ = commit_mode::direct;
  auto request = detail::with_attributes<resumable_start_request>(request_, request_.object);
  request.conditions.if_generation_match = expected_;
  request.limits = limits();
  ++in_flight_;
  store().start(request, then<resumable_session>([](object_upload& self, const auto& made) {
                  --self.in_flight_;
                  if (made) self.session_ = *made;
                  if (self.failure_) return self.clean();
                  if (!made) return self.fail(made.error());
                  self.phase_ = phase::sending;
                  self.pump();
                }));
}

}  // namespace dataflux::inline DATAFLUX_ABI
