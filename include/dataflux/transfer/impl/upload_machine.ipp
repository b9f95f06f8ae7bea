#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/store/detail/unmet_condition.hpp>
#include <dataflux/transfer/detail/upload_machine.hpp>

#include <chrono>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// For requests that clean up, unless abort() says otherwise.
inline constexpr duration usual_cleaning_timeout = std::chrono::seconds(60);

inline bool is_not_permitted(const error& e) noexcept {
  return e.code() == errc::permission_denied || e.code() == errc::unimplemented;
}

DATAFLUX_INLINE upload_machine::upload_machine(upload_request request, const store_traits& store)
    : request_(std::move(request)),
      store_(store),
      expected_(request_.if_generation_match),
      mode_(store.moves ? request_.mode : commit_mode::direct),
      cleaning_timeout_(usual_cleaning_timeout) {}

DATAFLUX_INLINE std::vector<upload_action> upload_machine::take(upload_event event,
                                                                time_point now) {
  now_ = now;
  const bool enough = within_memory([&] { event.visit([this](auto& e) { on(std::move(e)); }); });
  if (!enough) fall_short();
  return std::exchange(actions_, {});
}

DATAFLUX_INLINE void upload_machine::call(upload_step step, upload_verb request,
                                          std::uint32_t piece) {
  act(upload_call{.step = step, .request = std::move(request), .piece = piece});
  ++in_flight_;
  may_be_made_ = may_be_made_ || makes_object(step);
}

DATAFLUX_INLINE void upload_machine::on(upload_opened event) {
  open_waits_ = true;
  if (!event.checked) return open_failed(std::move(event.checked).error());
  if (auto commits = check_commits(store_); !commits) {
    return open_failed(std::move(commits).error());
  }
  if (expected_) return opened();
  call(upload_step::stat_target,
       stat_request{
           .bucket = request_.bucket, .object = request_.object, .fields = metadata_fields::basic});
}

DATAFLUX_INLINE void upload_machine::on(upload_resumed event) {
  mode_ = event.earlier.mode;
  if (staged()) temporary_.name = event.earlier.object;
  begun_ = std::move(event.earlier);
  path_ = upload_path::multipart;
  if (phase_ == phase::ready) phase_ = phase::sending;
}

DATAFLUX_INLINE void upload_machine::on(const upload_had& event) {
  ++given_;
  pieces_.push_back({event.part.size, event.part.crc32c});
  whole_.append({event.part.crc32c, event.part.size});
  parts_.push_back(event.part);
}

DATAFLUX_INLINE void upload_machine::on(const upload_given& event) {
  add(event.piece);
  if (phase_ == phase::ready) return begin();
  advance();
}

DATAFLUX_INLINE void upload_machine::on(const upload_finished& event) {
  finish_waits_ = true;
  last_given_ = true;
  const bool single = given_ == 0;
  if (event.last || single) add(event.last.value_or(part_checksum{}));
  if (phase_ == phase::over) return deliver();
  if (single && phase_ == phase::ready) return insert();
  advance();
}

DATAFLUX_INLINE void upload_machine::on(upload_refused event) { fail(std::move(event.why)); }

DATAFLUX_INLINE void upload_machine::on(const upload_aborted& event) {
  cleaning_timeout_ = event.timeout;
  abort_waits_ = true;
  if (phase_ == phase::over) return deliver();
  fail(error(errc::cancelled, "the upload was aborted"));
}

DATAFLUX_INLINE void upload_machine::on(upload_waited) {
  --in_flight_;
  go_on_beginning(beginning_->start());
}

DATAFLUX_INLINE void upload_machine::on(upload_answered event) {
  --in_flight_;
  switch (event.step) {
    case upload_step::begin:
    case upload_step::service_time:
    case upload_step::find_uploads:
    case upload_step::find_parts:
    case upload_step::abort_lost:
      return go_on_beginning(beginning_->answered(std::move(event.answer), now_));
    case upload_step::probe_remove:
    case upload_step::probe_move:
    case upload_step::ask_bucket:
    case upload_step::start_session:
    case upload_step::part:
    case upload_step::chunk:
      return answered_begin(std::move(event));
    default:
      return answered_object(std::move(event));
  }
}

/// Of requests that say where the bytes go, or take them.
DATAFLUX_INLINE void upload_machine::answered_begin(upload_answered&& event) {
  const auto refusal = [](const auto& outcome) { return outcome ? nullptr : &outcome.error(); };
  upload_answer& answer = event.answer;
  switch (event.step) {
    case upload_step::probe_remove:
      return probed(refusal(answer.get<result<void>>()));
    case upload_step::probe_move:
      return probed(refusal(answer.get<result<object_metadata>>()));
    case upload_step::ask_bucket:
      return bucket_told(answer.get<result<bucket_metadata>>());
    case upload_step::start_session:
      return session_started(answer.get<result<resumable_session>>());
    case upload_step::part:
      return part_ended(event.piece, std::move(answer.get<result<uploaded_part>>()));
    default:
      return chunk_ended(event.piece, answer.get<result<resumable_progress>>());
  }
}

DATAFLUX_INLINE void upload_machine::target_found(const result<object_metadata>& found) {
  if (failure_) return clean();
  if (unseen_ = !found && found.error().code() == errc::permission_denied; unseen_) {
    mode_ = commit_mode::direct;
    fall_back("objects may not be looked at here, so that nothing may be replaced");
  } else if (!found && found.error().code() != errc::not_found) {
    return open_failed(found.error());
  }
  expected_ = found ? found->generation : 0;
  opened();
}

DATAFLUX_INLINE void upload_machine::opened() {
  act(upload_deliver_open{});
  phase_ = phase::ready;
  open_waits_ = false;
}

/// Nothing has begun, so that there is nothing to clean up.
DATAFLUX_INLINE void upload_machine::open_failed(error why) {
  failure_ = named(std::move(why));
  act(upload_failed{*failure_});
  end();
}

DATAFLUX_INLINE void upload_machine::add(part_checksum piece) {
  const waiting_piece next{static_cast<std::uint32_t>(++given_), whole_.length()};
  pieces_.push_back(piece);
  whole_.append({piece.crc32c, piece.size});
  if (failure_) return act(upload_release{next.number});
  if (whole_.length() > store_.max_object_size) {
    act(upload_release{next.number});
    return fail(error(errc::out_of_range, "an object has at most " +
                                              std::to_string(store_.max_object_size) + " bytes"));
  }
  waiting_.push_back(next);
}

DATAFLUX_INLINE void upload_machine::advance() {
  if (phase_ != phase::sending) return;
  if (path_ == upload_path::resumable) {
    if (in_flight_ == 0) send_chunk();
    return;
  }
  for (; !waiting_.empty(); waiting_.pop_front()) send_part(waiting_.front());
  if (!last_given_ || in_flight_ > 0) return;
  phase_ = phase::ending;
  if (staged() || !expected_ || store_.conditional_complete) return complete();
  // The only precondition that there is without staging.
  call(upload_step::check_target,
       stat_request{
           .bucket = request_.bucket, .object = request_.object, .fields = metadata_fields::basic});
}

DATAFLUX_INLINE void upload_machine::send_part(waiting_piece next) {
  call(upload_step::part,
       upload_part_request{.bucket = request_.bucket,
                           .object = begun_->object,
                           .upload_id = begun_->upload.upload_id,
                           .part_number = next.number,
                           .crc32c = pieces_[next.number - 1].crc32c},
       next.number);
}

DATAFLUX_INLINE void upload_machine::part_ended(std::uint32_t number,
                                                result<uploaded_part> outcome) {
  const bool counts = outcome && !failure_;
  act(upload_release{.piece = number, .taken = counts ? outcome->size : 0});
  if (failure_) return clean();
  if (!outcome) {
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i + 1 < number; ++i) offset += pieces_[i].size;
    error why = removed(std::move(outcome).error());
    why.with_message("part " + std::to_string(number) + ", from byte " + std::to_string(offset) +
                     " on: " + why.message());
    return fail(std::move(why));
  }
  act(upload_tell_part{*outcome});
  parts_.push_back(*std::move(outcome));
  advance();
}

DATAFLUX_INLINE void upload_machine::send_chunk() {
  if (waiting_.empty() && !last_given_) return;
  waiting_piece next{.offset = whole_.length()};
  if (!waiting_.empty()) {
    next = waiting_.front();
    waiting_.pop_front();
  }
  resumable_chunk_request request{.session = *session_, .offset = next.offset};
  if (last_given_ && waiting_.empty()) {
    phase_ = phase::ending;
    request.last = true;
    request.crc32c = whole_.crc();
  }
  call(upload_step::chunk, std::move(request), next.number);
}

DATAFLUX_INLINE void upload_machine::chunk_ended(std::uint32_t number,
                                                 const result<resumable_progress>& outcome) {
  if (!outcome) may_be_made_ = may_be_made_ && outcome.error().outcome_unknown();
  if (number != 0) act(upload_release{number, outcome ? pieces_[number - 1].size : 0});
  if (failure_) return clean();
  if (!outcome) return fail(outcome.error());
  if (phase_ == phase::sending) return advance();
  if (!outcome->object) {
    return fail(error(errc::internal, "the last chunk was taken, and there is no object"));
  }
  session_.reset();
  compare(*outcome->object, upload_step::compare_target);
}

DATAFLUX_INLINE void upload_machine::begin() {
  phase_ = phase::beginning;
  path_ = upload_path::multipart;
  if (!staged()) return initiate();
  act(upload_recall{folder()});
  ++in_flight_;
}

DATAFLUX_INLINE void upload_machine::on(upload_recalled event) {
  --in_flight_;
  if (failure_) return clean();
  temporary_.name = std::move(event.temporary);
  if (!event.lore) return probe();
  versioned_ = event.lore->versioned;
  if (!event.lore->refused.empty()) {
    fall_back(event.lore->refused);
    mode_ = commit_mode::direct;
  }
  initiate();
}

/// What the object's own permissions are, and not what a bucket says of itself: permissions may be
/// given for folders. But a policy of the bucket shows only in objects that are there.
DATAFLUX_INLINE void upload_machine::probe() {
  call(upload_step::probe_remove,
       remove_request{.bucket = request_.bucket, .object = temporary_.name});
  call(upload_step::probe_move,
       move_request{
           .bucket = request_.bucket, .source = temporary_.name, .object = request_.object});
  call(upload_step::ask_bucket, bucket_request{.bucket = request_.bucket});
}

/// Where the bucket may not be read, a move that is refused tells.
DATAFLUX_INLINE void upload_machine::bucket_told(const result<bucket_metadata>& bucket) {
  if (!bucket) return probed(nullptr);
  versioned_ = bucket->versioning;
  if (bucket->retention_seconds > 0) {
    const error kept(errc::permission_denied, "by the bucket's retention policy objects stay for " +
                                                  std::to_string(bucket->retention_seconds) + " s");
    return probed(&kept);
  }
  if (bucket->default_event_based_hold) {
    const error held(errc::permission_denied, "the bucket places a hold on new objects");
    return probed(&held);
  }
  probed(nullptr);
}

DATAFLUX_INLINE void upload_machine::probed(const error* refusal) {
  if (failure_) return clean();
  if (refusal != nullptr && is_not_permitted(*refusal) && staged()) {
    fall_back("temporary objects may not be removed or moved here: " + refusal->message());
    mode_ = commit_mode::direct;
  }
  if (in_flight_ == 0) initiate();  // else other answers are to come
}

DATAFLUX_INLINE void upload_machine::initiate() {
  auto request = with_attributes<multipart_initiate_request>(
      request_, staged() ? temporary_.name : request_.object);
  request.conditional = !staged() && store_.conditional_complete;
  beginning_.emplace(std::move(request), staged(), now_);
  go_on_beginning(beginning_->start());
}

DATAFLUX_INLINE void upload_machine::go_on_beginning(upload_begin::step next) {
  if (auto* const made = next.get_if<result<multipart_upload>>()) {
    if (beginning_->left()) {
      orphans_ += "; an upload may have begun and be left open, " + where_to_see();
    }
    return initiated(std::move(*made));
  }
  auto* const request = next.get_if<upload_call>();
  request != nullptr ? act(std::move(*request)) : act(next.get<upload_wait>());
  ++in_flight_;
}

DATAFLUX_INLINE void upload_machine::initiated(result<multipart_upload> made) {
  const bool direct = !staged();
  if (made) begun_ = {*made, direct ? request_.object : temporary_.name, mode_};
  if (failure_) return clean();
  if (made) {
    if (!direct) act(upload_remember{folder(), {versioned_, {}}});
    phase_ = phase::sending;
    act(upload_tell_begun{*begun_});
    return advance();
  }
  // What does not know uploads in parts takes a begin for a malformed request.
  if (!is_not_permitted(made.error()) && made.error().http_status() != 400) {
    return fail(std::move(made).error());
  }
  if (direct) {
    fall_back("no multipart upload is permitted here: " + made.error().message());
    return start_session();
  }
  fall_back("no temporary object may be uploaded here: " + made.error().message());
  mode_ = commit_mode::direct;
  initiate();
}

DATAFLUX_INLINE void upload_machine::start_session() {
  path_ = upload_path::resumable;
  auto request = with_attributes<resumable_start_request>(request_, request_.object);
  request.conditions.if_generation_match = expected_;
  call(upload_step::start_session, std::move(request));
}

DATAFLUX_INLINE void upload_machine::session_started(const result<resumable_session>& made) {
  if (made) session_ = *made;
  if (failure_) return clean();
  if (!made) return fail(made.error());
  phase_ = phase::sending;
  advance();
}

DATAFLUX_INLINE void upload_machine::fall_back(const std::string& why) {
  if (!fallback_.empty()) fallback_ += "; ";
  fallback_ += why;
  act(upload_log{"upload of " + url_of(request_.object) + ": " + why});
}

DATAFLUX_INLINE std::string upload_machine::where_to_see() const {
  return "see `dataflux uploads list " + std::string(store_.scheme) + "://" + request_.bucket + "`";
}

DATAFLUX_INLINE std::string upload_machine::folder() const {
  const std::size_t slash = request_.object.rfind('/');
  return request_.bucket + '/' +
         (slash == std::string::npos ? std::string{} : request_.object.substr(0, slash));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
