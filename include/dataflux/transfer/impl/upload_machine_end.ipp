#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/transfer/detail/upload_machine.hpp>
#include <dataflux/transfer/impl/upload_machine.ipp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

template <class Request>
void upload_machine::call_cleaning(upload_step step, Request request) {
  request.limits = {.timeout = cleaning_timeout_};
  act(upload_call{.step = step, .request = std::move(request), .bounded = false});
  ++in_flight_;
}

/// Under its own name.
DATAFLUX_INLINE bool upload_machine::makes_object(upload_step step) const noexcept {
  using s = upload_step;
  return step == s::insert || step == s::move || step == s::copy ||
         (step == s::complete && makes_it_at_once()) ||
         (step == s::chunk && phase_ == phase::ending);
}

/// Of requests that make the object, or remove what is no object yet.
DATAFLUX_INLINE void upload_machine::answered_object(upload_answered&& event) {
  const auto made = [&event] { return std::move(event.answer.get<result<object_metadata>>()); };
  const auto ended = [&event] { return std::move(event.answer.get<result<void>>()); };
  switch (event.step) {
    case upload_step::stat_target:
      return target_found(made());
    case upload_step::insert:
      return insert_ended(event.piece, made());
    case upload_step::check_target:
      return target_checked(made());
    case upload_step::complete:
      return completed(made());
    case upload_step::compare_temporary:
    case upload_step::compare_target:
      return compared(made(), event.step);
    case upload_step::move:
      return moved(made());
    case upload_step::copy:
      return copied(made());
    case upload_step::stat_temporary:
      return temporary_found(made());
    case upload_step::remove_temporary:
      return temporary_removed(ended());
    case upload_step::abort_upload:
      return cleaned("its open upload " + aborted_, ended());
    case upload_step::remove_bad:
      return cleaned(url_of(request_.object), ended());
    default:  // cancel_session: what stays open leaves nothing behind and ends by itself
      return clean();
  }
}

DATAFLUX_INLINE void upload_machine::insert() {
  phase_ = phase::ending;
  const std::uint32_t number = waiting_.front().number;
  waiting_.pop_front();
  auto request = with_attributes<insert_request>(request_, request_.object);
  request.conditions.if_generation_match = expected_;
  call(upload_step::insert, std::move(request), number);
}

DATAFLUX_INLINE void upload_machine::insert_ended(std::uint32_t number,
                                                  result<object_metadata> made) {
  answered_make(made);
  act(upload_release{number, made && !failure_ ? whole_.length() : 0});
  if (failure_) return clean();
  if (!made) return fail(std::move(made).error());
  compare(*std::move(made), upload_step::compare_target);
}

DATAFLUX_INLINE void upload_machine::target_checked(const result<object_metadata>& found) {
  if (failure_) return clean();
  const errc why = found ? errc::ok : found.error().code();
  if (why == errc::permission_denied) return complete();
  if (why != errc::ok && why != errc::not_found) return fail(found.error());
  const std::int64_t there = found ? found->generation : 0;
  if (there == *expected_) return complete();
  fail(error(unmet(), meanwhile() + ": its generation is " + std::to_string(there) + ", not " +
                          std::to_string(*expected_)));
}

DATAFLUX_INLINE void upload_machine::complete() {
  std::sort(parts_.begin(), parts_.end(), [](const uploaded_part& a, const uploaded_part& b) {
    return a.part_number < b.part_number;
  });
  temporary_.there = staged();
  const bool conditional = !staged() && store_.conditional_complete;
  call(upload_step::complete,
       multipart_complete_request{
           .bucket = request_.bucket,
           .object = begun_->object,
           .upload_id = begun_->upload.upload_id,
           .parts = parts_,
           .mark = begun_->upload.mark,
           .conditions = {.if_generation_match = conditional ? expected_ : std::nullopt}});
}

DATAFLUX_INLINE void upload_machine::completed(result<object_metadata> made) {
  answered_make(made);
  if (made) begun_.reset();
  if (made && staged()) temporary_.generation = made->generation;
  if (failure_) return clean();
  if (!made) return fail(removed(std::move(made).error()));
  compare(*std::move(made),
          staged() ? upload_step::compare_temporary : upload_step::compare_target);
}

/// A reply that lacks the checksum is made up for by asking once more.
DATAFLUX_INLINE void upload_machine::compare(object_metadata made, upload_step step) {
  if (!made.crc32c) {
    // What is committed is given to the caller, whole.
    const bool committing = step == upload_step::compare_target;
    return call(step,
                stat_request{.bucket = request_.bucket,
                             .object = std::move(made.name),
                             .generation = made.generation,
                             .fields = committing ? metadata_fields::all : metadata_fields::basic});
  }
  if (made.size != whole_.length() || *made.crc32c != whole_.crc()) {
    // Before the error needs memory.
    if (makes_it_at_once()) bad_generation_ = made.generation;
    return fail(error(errc::data_loss, "the object that the service made of what was sent has " +
                                           std::to_string(made.size) +
                                           " bytes or a CRC32C other than what was sent")
                    .with_generation(made.generation));
  }
  if (step == upload_step::compare_temporary) return move(made);
  committed(std::move(made));
}

DATAFLUX_INLINE void upload_machine::compared(result<object_metadata> found, upload_step step) {
  if (failure_) return clean();
  if (!found) return fail(removed(std::move(found).error()));
  if (!found->crc32c) {
    if (store_.crc32c_everywhere || staged() || found->size != whole_.length()) {
      return fail(error(errc::data_loss, "the service gives no CRC32C of the object"));
    }
    fall_back("the store gives no CRC32C of the object: its parts and its size were compared");
    return committed(*std::move(found));
  }
  compare(*std::move(found), step);
}

DATAFLUX_INLINE void upload_machine::move(const object_metadata& temporary) {
  move_request request{.bucket = request_.bucket,
                       .source = temporary_.name,
                       .object = request_.object,
                       .crc32c = whole_.crc()};
  request.source_conditions.if_generation_match = temporary.generation;
  request.conditions.if_generation_match = expected_;
  call(upload_step::move, std::move(request));
}

/// Where a move is refused, a retention policy or a hold keeps the temporary object where it is.
/// Its bytes are there and need not be sent again, so that they are copied.
DATAFLUX_INLINE void upload_machine::moved(result<object_metadata> made) {
  answered_make(made);
  // A noncurrent generation of it may still be there.
  if (made) temporary_.there = versioned_;
  if (failure_) return clean();
  if (made) return compare(*std::move(made), upload_step::compare_target);
  if (!is_not_permitted(made.error())) return fail(removed(std::move(made).error()));
  move_refused_ = std::move(made).error();
  rewrite_request request{.source_bucket = request_.bucket,
                          .source = temporary_.name,
                          .source_generation = temporary_.generation,
                          .bucket = request_.bucket,
                          .object = request_.object,
                          .attributes = {.kms_key_name = request_.attributes.kms_key_name}};
  request.conditions.if_generation_match = expected_;
  call(upload_step::copy, std::move(request));
}

DATAFLUX_INLINE void upload_machine::copied(result<object_metadata> made) {
  answered_make(made);
  if (failure_) return clean();
  if (!made) {
    const bool neither = is_not_permitted(made.error());
    return fail(neither ? *move_refused_ : removed(std::move(made).error()));
  }
  fall_back("the temporary object could not be moved and was copied: " + move_refused_->message());
  compare(*std::move(made), upload_step::compare_target);
}

DATAFLUX_INLINE void upload_machine::committed(object_metadata made) {
  made_ = committed_object{.object = std::move(made),
                           .path = path_,
                           .mode = path_ == upload_path::multipart ? mode_ : commit_mode::direct,
                           .parts = std::move(pieces_)};
  if (temporary_.there) return remove_temporary();
  end();
}

/// By its generation: so it goes for good, and may be asked for again when a reply is lost. Where
/// that is not known: nobody else has this name.
DATAFLUX_INLINE void upload_machine::remove_temporary() {
  call_cleaning(upload_step::remove_temporary, remove_request{.bucket = request_.bucket,
                                                              .object = temporary_.name,
                                                              .generation = temporary_.generation,
                                                              .last_writer_wins = true});
  temporary_.there = false;
}

DATAFLUX_INLINE void upload_machine::temporary_removed(const result<void>& outcome) {
  const bool gone = outcome || outcome.error().code() == errc::not_found;
  if (!gone && is_not_permitted(outcome.error())) {
    act(upload_remember{
        folder(),
        {versioned_, "temporary objects cannot be removed here: " + outcome.error().message()}});
  }
  if (outcome && temporary_.generation == 0 && versioned_) {
    orphans_ += "; a noncurrent generation of " + url_of(temporary_.name) + " may be left behind";
  }
  if (failure_) return cleaned(url_of(temporary_.name), outcome);
  if (!gone) {
    fall_back(url_of(temporary_.name) + " was left behind, " + where_to_see() + ": " +
              outcome.error().message());
  }
  end();
}

DATAFLUX_INLINE void upload_machine::fail(error why) {
  if (failure_ || made_ || phase_ == phase::over) return;
  failure_ = std::move(why);
  phase_ = phase::cleaning;
  if (failure_->code() == errc::data_loss && makes_it_at_once())
    bad_generation_ = failure_->generation();
  failure_ = named(*failure_);
  act(upload_failed{*failure_});
  release_waiting();
  clean();
}

/// In the midst of an event. What the driver hears twice, it does once.
DATAFLUX_INLINE void upload_machine::fall_short() {
  if (failure_ || (!made_ && phase_ != phase::over)) {
    if (!failure_) failure_ = short_of_memory(may_be_made_);
    act(upload_failed{*failure_});
  }
  if (phase_ == phase::over) return told_end_ ? deliver() : end();
  if (made_) {
    if (in_flight_ > 0) return;
    if (temporary_.there) orphans_ += "; " + url_of(temporary_.name) + " was left behind";
    return end();
  }
  phase_ = phase::cleaning;
  release_waiting();
  clean();
}

DATAFLUX_INLINE void upload_machine::release_waiting() {
  for (; !waiting_.empty(); waiting_.pop_front()) act(upload_release{waiting_.front().number});
}

DATAFLUX_INLINE void upload_machine::clean() {
  if (in_flight_ > 0) return;
  if (session_) {
    call_cleaning(upload_step::cancel_session, resumable_cancel_request{.session = *session_});
    return session_.reset();
  }
  if (begun_ && (!keeps_parts_ || failure_->code() == errc::data_loss)) {
    aborted_ = begun_->upload.upload_id;
    call_cleaning(upload_step::abort_upload,
                  multipart_abort_request{
                      .bucket = request_.bucket, .object = begun_->object, .upload_id = aborted_});
    return begun_.reset();
  }
  if (temporary_.there && temporary_.generation != 0) return remove_temporary();
  if (temporary_.there) {
    // When complete's reply was lost, the generation was, too.
    return call_cleaning(upload_step::stat_temporary,
                         stat_request{.bucket = request_.bucket,
                                      .object = temporary_.name,
                                      .fields = metadata_fields::basic});
  }
  if (bad_generation_ > 0) {
    return call_cleaning(upload_step::remove_bad,
                         remove_request{.bucket = request_.bucket,
                                        .object = request_.object,
                                        .generation = std::exchange(bad_generation_, 0)});
  }
  end();
}

DATAFLUX_INLINE void upload_machine::temporary_found(const result<object_metadata>& found) {
  if (found) temporary_.generation = found->generation;
  if (found || found.error().code() != errc::not_found) return remove_temporary();
  temporary_.there = false;
  clean();
}

DATAFLUX_INLINE void upload_machine::cleaned(const std::string& what, const result<void>& outcome) {
  if (!outcome && outcome.error().code() != errc::not_found) {
    orphans_ +=
        "; left behind, " + where_to_see() + ": " + what + " (" + outcome.error().message() + ")";
  }
  clean();
}

DATAFLUX_INLINE void upload_machine::end() {
  phase_ = phase::over;
  if (failure_ && may_be_made_ && failure_->code() != errc::data_loss) {
    within_memory([this] { failure_->with_outcome_unknown(true); },
                  [this] { failure_ = short_of_memory(true); });
  }
  if (failure_ && !orphans_.empty()) {
    error all = *failure_;
    all.with_message(all.message() + orphans_);
    act(upload_log{all.to_string()});
    failure_ = std::move(all);
  }
  if (made_) {
    made_->fallback = fallback_.empty() && !orphans_.empty() ? orphans_.substr(2)  // "; "
                                                             : fallback_ + orphans_;
  }
  act(upload_ended{made_.has_value()});
  told_end_ = true;
  deliver();
}

DATAFLUX_INLINE void upload_machine::deliver() {
  actions_.reserve(actions_.size() + 3);
  if (open_waits_) act(upload_deliver_open{*failure_});
  open_waits_ = false;
  if (finish_waits_) {
    upload_action answer(upload_deliver_commit{failure_ ? *failure_ : short_of_memory()});
    // From here on there is memory: what is given away is not lost.
    if (!failure_) answer.get<upload_deliver_commit>().outcome = *std::move(made_);
    act(std::move(answer));
  }
  finish_waits_ = false;
  if (abort_waits_) {
    const bool left = failure_ && !orphans_.empty();
    act(upload_deliver_abort{left ? result<void>(*failure_) : result<void>()});
  }
  abort_waits_ = false;
}

/// What it is that the target is not as expected. Who has asked for no condition did not ask to
/// create the object either, where there was none when the upload began.
DATAFLUX_INLINE errc upload_machine::unmet() const noexcept {
  const bool creates = unseen_ || request_.if_generation_match == 0;
  return creates ? errc::already_exists : errc::failed_precondition;
}

DATAFLUX_INLINE std::string upload_machine::meanwhile() const {
  if (request_.if_generation_match) return "the object was written by another meanwhile";
  if (unseen_) {
    return "the object is there already, and is not replaced, since objects may not be looked at "
           "here: give storage.objects.get";
  }
  return "another writer has written it since this save began (do several ranks save to one name?)";
}

DATAFLUX_INLINE error upload_machine::named(error why) const {
  // Of a move the service does not tell whose condition it was; but the source's name is known to
  // nobody else. Of a chunk the store does not know what the session began with.
  const bool condition =
      why.code() == errc::failed_precondition || why.code() == errc::already_exists;
  if (condition && why.http_status() == 412) {
    why.with_code(unmet());
    if (!request_.if_generation_match) why.with_message(meanwhile());
  }
  if (why.bucket().empty()) why.with_scheme(store_.scheme).with_bucket(request_.bucket);
  if (why.object().empty() || why.object() == temporary_.name) why.with_object(request_.object);
  if (why.code() == errc::already_exists && !request_.advice_if_it_exists.empty()) {
    why.with_message(why.message() + "; " + request_.advice_if_it_exists);
  }
  return why;
}

/// Of a request about what this upload has made: not found, it is another's doing. Who has removed
/// the bucket is told of that.
DATAFLUX_INLINE error upload_machine::removed(error why) const {
  if (why.code() != errc::not_found || why.bucket_missing()) return why;
  const std::string& advice = request_.advice_if_it_is_removed;
  why.with_code(errc::aborted)
      .with_message(
          "what was uploaded is not there any more: another, or a rule of the bucket, has "
          "completed, replaced or removed it meanwhile (" +
          why.message() + ")" + (advice.empty() ? "" : "; " + advice));
  return why;
}

DATAFLUX_INLINE std::string upload_machine::url_of(const std::string& object) const {
  return std::string(store_.scheme) + "://" + request_.bucket + '/' + object;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
