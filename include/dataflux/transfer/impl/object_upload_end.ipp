#pragma once

#include <dataflux/transfer/impl/object_upload_begin.ipp>
#include <dataflux/transfer/object_upload.hpp>
#include <dataflux/transfer/transfer_state.hpp>

#include <algorithm>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE void object_upload::finish(std::optional<upload_piece> last,
                                           completion<committed_object> done) {
  finish_done_ = std::move(done);
  last_given_ = true;
  const bool single = pieces_ == 0;
  if (last || single) take(last ? *std::move(last) : upload_piece{});
  if (!failure_ && expired()) {
    return fail(error(errc::deadline_exceeded, "the upload's time limit passed"));
  }
  if (failure_) {
    if (phase_ == phase::over) deliver();
    return;
  }
  if (single && phase_ == phase::ready) return insert();
  pump();
}

DATAFLUX_INLINE void object_upload::insert() {
  phase_ = phase::ending;
  path_ = upload_path::insert;
  numbered_piece only = std::move(queue_.front());
  queue_.pop_front();
  auto request = detail::with_attributes<insert_request>(request_, request_.object);
  request.data = only.piece.bytes;
  request.conditions.if_generation_match = expected_;
  request.limits = limits();
  ++in_flight_;
  store().start(request, then<object_metadata>(
                             [sent = std::move(only)](object_upload& self, auto made) mutable {
                               --self.in_flight_;
                               self.drop(sent);
                               if (self.failure_) return self.clean();
                               if (!made) return self.fail(made.error());
                               self.state_->counters.uploaded_bytes += self.whole_.length();
                               self.verify(*std::move(made), &object_upload::committed);
                             }));
}

/// The only precondition that there is without staging.
DATAFLUX_INLINE void object_upload::look_before_complete() {
  ++in_flight_;
  store().start(
      stat_request{.bucket = request_.bucket, .object = request_.object, .limits = limits()},
      then<object_metadata>([](object_upload& self, const auto& found) {
        --self.in_flight_;
        if (self.failure_) return self.clean();
        if (!found && found.error().code() == errc::permission_denied) return self.complete();
        if (!found && found.error().code() != errc::not_found) return self.fail(found.error());
        const std::int64_t there = found ? found->generation : 0;
        if (there == *self.expected_) return self.complete();
        self.fail(error(*self.expected_ == 0 ? errc::already_exists : errc::failed_precondition,
                        "the object was written by another meanwhile: its generation is " +
                            std::to_string(there) + ", not " + std::to_string(*self.expected_)));
      }));
}

DATAFLUX_INLINE void object_upload::complete() {
  std::sort(parts_.begin(), parts_.end(), [](const uploaded_part& a, const uploaded_part& b) {
    return a.part_number < b.part_number;
  });
  ++in_flight_;
  may_exist_ = mode_ == commit_mode::staged;
  store().start(multipart_complete_request{.bucket = request_.bucket,
                                           .object = begun_->object,
                                           .upload_id = begun_->upload.upload_id,
                                           .parts = parts_,
                                           .mark = begun_->upload.mark,
                                           .limits = limits()},
                then<object_metadata>(
                    [](object_upload& self, auto made) { self.completed(std::move(made)); }));
}

DATAFLUX_INLINE void object_upload::completed(result<object_metadata> made) {
  --in_flight_;
  if (made) begun_.reset();
  if (made && mode_ == commit_mode::staged) temporary_generation_ = made->generation;
  if (failure_) return clean();
  if (!made) return fail(std::move(made).error());
  verify(*std::move(made),
         mode_ == commit_mode::staged ? &object_upload::move : &object_upload::committed);
}

/// A reply that lacks the checksum is made up for by asking once more.
DATAFLUX_INLINE void object_upload::verify(object_metadata made,
                                           void (object_upload::*next)(object_metadata)) {
  if (made.crc32c) {
    if (made.size == whole_.length() && *made.crc32c == whole_.crc()) {
      return (this->*next)(std::move(made));
    }
    return fail(error(errc::data_loss, "the object that the service made of what was sent has " +
                                           std::to_string(made.size) +
                                           " bytes or a CRC32C other than what was sent")
                    .with_generation(made.generation));
  }
  ++in_flight_;
  store().start(
      stat_request{.bucket = request_.bucket,
                   .object = made.name,
                   .generation = made.generation,
                   .limits = limits()},
      then<object_metadata>([next](object_upload& self, auto found) {
        --self.in_flight_;
        if (self.failure_) return self.clean();
        if (found && found->crc32c) return self.verify(*std::move(found), next);
        self.fail(found ? error(errc::data_loss, "the service gives no CRC32C of the object")
                        : found.error());
      }));
}

DATAFLUX_INLINE void object_upload::move(object_metadata temporary) {
  move_request request{.bucket = request_.bucket,
                       .source = temporary_,
                       .object = request_.object,
                       .crc32c = whole_.crc(),
                       .limits = limits()};
  request.source_conditions.if_generation_match = temporary.generation;
  request.conditions.if_generation_match = expected_;
  ++in_flight_;
  store().start(request, then<object_metadata>([](object_upload& self, auto made) {
                  --self.in_flight_;
                  if (made) self.may_exist_ = false;
                  if (self.failure_) return self.clean();
                  if (!made && detail::is_not_permitted(made.error())) {
                    return self.copy(made.error());
                  }
                  if (!made) return self.fail(std::move(made).error());
                  self.verify(*std::move(made), &object_upload::committed);
                }));
}

/// A retention policy or a hold keeps the temporary object where it is, and the bytes are there:
/// they need not be sent again.
DATAFLUX_INLINE void object_upload::copy(const error& refused) {
  rewrite_request request{.source_bucket = request_.bucket,
                          .source = temporary_,
                          .source_generation = temporary_generation_,
                          .bucket = request_.bucket,
                          .object = request_.object,
                          .kms_key_name = request_.kms_key_name,
                          .limits = limits()};
  request.conditions.if_generation_match = expected_;
  ++in_flight_;
  store().start(request, then<object_metadata>([refused](object_upload& self, auto made) {
                  --self.in_flight_;
                  if (self.failure_) return self.clean();
                  if (!made) {
                    const bool neither = detail::is_not_permitted(made.error());
                    return self.fail(neither ? refused : std::move(made).error());
                  }
                  self.fall_back("the temporary object could not be moved and was copied: " +
                                 refused.message());
                  self.verify(*std::move(made), &object_upload::committed);
                }));
}

DATAFLUX_INLINE void object_upload::committed(object_metadata made) {
  made_ = committed_object{.object = std::move(made),
                           .path = path_,
                           .mode = path_ == upload_path::multipart ? mode_ : commit_mode::direct,
                           .fallback = fallback_,
                           .parts = std::move(checksums_)};
  ++state_->counters.uploads;
  // After a move the temporary object may still be a noncurrent generation.
  if (temporary_generation_ != 0 && (may_exist_ || versioned_)) return discard_temporary();
  end();
}

/// By its generation: so it goes for good, and may be asked for again when a reply is lost.
DATAFLUX_INLINE void object_upload::discard_temporary() {
  ++in_flight_;
  store().start(remove_request{.bucket = request_.bucket,
                               .object = temporary_,
                               .generation = temporary_generation_,
                               .limits = cleaning_limits()},
                then<void>([](object_upload& self, const auto& outcome) {
                  --self.in_flight_;
                  self.discarded(outcome);
                }));
}

DATAFLUX_INLINE void object_upload::discarded(const result<void>& outcome) {
  const bool gone = outcome || outcome.error().code() == errc::not_found;
  if (!gone && detail::is_not_permitted(outcome.error())) {
    state_->uploads.staging[folder_key()].refused =
        "temporary objects cannot be removed here: " + outcome.error().message();
  }
  const std::string name = "gs://" + request_.bucket + '/' + temporary_;
  if (failure_) return cleaned(name, gone ? result<void>() : outcome);
  if (!gone) {
    fall_back(name + " was left behind, see `dataflux uploads list gs://" + request_.bucket +
              "`: " + outcome.error().message());
    made_->fallback = fallback_;
  }
  end();
}

DATAFLUX_INLINE void object_upload::fail(error why) {
  if (failure_ || made_ || phase_ == phase::over) return;
  failure_ = named(std::move(why));
  broken_ = true;
  phase_ = phase::cleaning;
  stop_.request_stop();
  for (auto& piece : std::exchange(queue_, {})) drop(piece);
  state_->uploads.memory.forget(memory_, *failure_);
  clean();
}

/// Once nothing is under way: what would cross a part or a complete would miss it.
DATAFLUX_INLINE void object_upload::clean() {
  if (!quiet()) return;
  if (session_) {
    // An open session leaves nothing behind and ends by itself.
    ++in_flight_;
    store().start(resumable_cancel_request{.session = *std::exchange(session_, {}),
                                           .limits = cleaning_limits()},
                  then<void>([](object_upload& self, const auto&) {
                    --self.in_flight_;
                    self.clean();
                  }));
    return;
  }
  if (begun_ && (!keeps_parts_ || failure_->code() == errc::data_loss)) {
    const begun_upload from = *std::exchange(begun_, {});
    ++in_flight_;
    store().start(multipart_abort_request{.bucket = request_.bucket,
                                          .object = from.object,
                                          .upload_id = from.upload.upload_id,
                                          .limits = cleaning_limits()},
                  then<void>([id = from.upload.upload_id](object_upload& self, const auto& r) {
                    --self.in_flight_;
                    self.cleaned("its open upload " + id, r);
                  }));
    return;
  }
  clean_object();
}

DATAFLUX_INLINE void object_upload::clean_object() {
  if (std::exchange(may_exist_, false)) return clean_temporary();
  remove_request request{.bucket = request_.bucket, .limits = cleaning_limits()};
  if (failure_->code() == errc::data_loss && failure_->generation() > 0 &&
      mode_ == commit_mode::direct && !std::exchange(bad_removed_, true)) {
    request.object = request_.object;
    request.generation = failure_->generation();
  } else {
    return end();
  }
  ++in_flight_;
  const std::string name = "gs://" + request.bucket + '/' + request.object;
  store().start(request, then<void>([name](object_upload& self, const auto& r) {
                  --self.in_flight_;
                  self.cleaned(name, r);
                }));
}

/// When complete's reply was lost, the generation was, too.
DATAFLUX_INLINE void object_upload::clean_temporary() {
  if (temporary_generation_ != 0) return discard_temporary();
  ++in_flight_;
  store().start(
      stat_request{.bucket = request_.bucket, .object = temporary_, .limits = cleaning_limits()},
      then<object_metadata>([](object_upload& self, const auto& found) {
        --self.in_flight_;
        if (found) self.temporary_generation_ = found->generation;
        if (!found && found.error().code() == errc::not_found) return self.clean();
        self.discard_temporary();
      }));
}

DATAFLUX_INLINE void object_upload::cleaned(const std::string& what, const result<void>& outcome) {
  if (!outcome && outcome.error().code() != errc::not_found) {
    strays_ += "; left behind, see `dataflux uploads list gs://" + request_.bucket + "`: " + what +
               " (" + outcome.error().message() + ")";
  }
  clean();
}

DATAFLUX_INLINE void object_upload::end() {
  phase_ = phase::over;
  on_stop_.reset();
  state_->uploads.memory.leave(memory_);
  state_->publish();
  on_begun_ = {};
  on_part_ = {};
  if (failure_ && *left_open_) {
    strays_ += "; an upload may have begun and be left open, see `dataflux uploads list gs://" +
               request_.bucket + "`";
  }
  if (failure_ && !strays_.empty()) {
    failure_->with_message(failure_->message() + strays_);
    if (request_.watcher != nullptr) {
      request_.watcher->on_log(log_level::warning, failure_->to_string());
    }
  }
  deliver();
}

DATAFLUX_INLINE void object_upload::deliver() {
  if (open_done_ && failure_) std::exchange(open_done_, {})(*failure_);
  if (finish_done_) {
    auto done = std::exchange(finish_done_, {});
    if (failure_) {
      done(*failure_);
    } else {
      done(*std::move(made_));
    }
  }
  if (abort_done_) {
    auto done = std::exchange(abort_done_, {});
    done(strays_.empty() ? result<void>() : result<void>(*failure_));
  }
}

DATAFLUX_INLINE void object_upload::abort(duration patience, completion<void> done) {
  patience_ = patience;
  abort_done_ = std::move(done);
  if (phase_ == phase::over) return deliver();
  fail(error(errc::cancelled, "the upload was aborted"));
}

}  // namespace dataflux::inline DATAFLUX_ABI
