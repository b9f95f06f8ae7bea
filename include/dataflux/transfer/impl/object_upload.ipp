#pragma once

#include <dataflux/exec/continuation.hpp>
#include <dataflux/store/validate.hpp>
#include <dataflux/transfer/object_upload.hpp>
#include <dataflux/transfer/transfer_state.hpp>

#include <algorithm>
#include <chrono>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
/// For requests that clean up, unless abort() says otherwise.
inline constexpr duration usual_cleaning_patience = std::chrono::seconds(60);

/// Of any of the requests that begin an object.
template <class Request>
Request with_attributes(const object_upload_request& from, const std::string& object) {
  Request r;
  r.bucket = from.bucket;
  r.object = object;
  r.content_type = from.content_type;
  r.metadata = from.metadata;
  r.content_encoding = from.content_encoding;
  r.storage_class = from.storage_class;
  r.custom_time = from.custom_time;
  r.kms_key_name = from.kms_key_name;
  return r;
}
}  // namespace detail

/// A completion that goes on at home, with the upload as its first argument.
template <class T, class Step>
object_upload::completion<T> object_upload::then(Step step) {
  return continue_on<T>(context_.home(), shared_from_this(), std::move(step));
}

DATAFLUX_INLINE void object_upload::stopper::operator()() const noexcept {
  auto self = upload->weak_from_this().lock();
  if (self == nullptr) return;
  scheduler& home = self->context_.home();
  home.post(
      [self = std::move(self)] { self->fail(error(errc::cancelled, "the caller asked to stop")); });
}

DATAFLUX_INLINE object_upload::object_upload(const transfer_context& context,
                                             object_upload_request request)
    : context_(context),
      state_(context.state()),
      request_(std::move(request)),
      deadline_(request_.limits.deadline_from(context.home().now())),
      expected_(request_.if_generation_match),
      mode_(request_.mode),
      patience_(detail::usual_cleaning_patience) {}

DATAFLUX_INLINE void object_upload::open(completion<void> done) {
  open_done_ = std::move(done);
  if (auto good = prepare(); !good) return opened(std::move(good));
  const auto& stop = request_.limits.stop;
  if (stop.stop_possible()) on_stop_.emplace(stop, stopper{this});
  if (expected_) return opened({});
  asked_ = context_.home().now();
  ++in_flight_;
  store().start(
      stat_request{.bucket = request_.bucket, .object = request_.object, .limits = limits()},
      then<object_metadata>(
          [](object_upload& self, auto found) { self.looked(std::move(found)); }));
}

DATAFLUX_INLINE result<void> object_upload::prepare() {
  using initiate = multipart_initiate_request;
  if (auto good = validate(detail::with_attributes<initiate>(request_, request_.object)); !good) {
    return good;
  }
  preconditions conditions;
  conditions.if_generation_match = expected_;
  if (auto good = validate_conditions(conditions); !good) return good;
  detail::upload_share& share = state_->uploads;
  const store_traits traits = store().traits();
  part_plan_options wanted{.part_size = request_.part_size,
                           .size_hint = request_.size_hint,
                           .memory = share.memory.cap(),
                           .connection_bandwidth = share.bandwidth,
                           .overhead = share.overhead};
  auto plan = part_plan::make(wanted, traits);
  // Of many uploads at once the later ones have smaller parts, so that there is room for more.
  const std::uint64_t quarter = share.memory.free_to_own() / 4 / part_quantum * part_quantum;
  const std::uint64_t least = std::max(least_usual_part, traits.min_part_size);
  if (plan && wanted.part_size == 0 && plan->first_size() > std::max(quarter, least)) {
    wanted.part_size = std::max(quarter, least);
    auto smaller = part_plan::make(wanted, traits);
    if (smaller) plan = std::move(smaller);
  }
  if (!plan) return plan.error();
  plan_ = *plan;
  if (!share.memory.join(memory_, plan_.first_size())) {
    return error(errc::resource_exhausted,
                 "a part of " + std::to_string(plan_.first_size()) +
                     " bytes is more than the uploads that are open leave of their memory of " +
                     std::to_string(share.memory.cap()) +
                     " bytes: end some of them first, or raise transfer_options::upload_memory");
  }
  return {};
}

DATAFLUX_INLINE void object_upload::looked(result<object_metadata> found) {
  --in_flight_;
  if (failure_) return clean();
  state_->uploads.answered(context_.home().now() - asked_);
  if (found) {
    expected_ = found->generation;
  } else if (found.error().code() == errc::not_found) {
    expected_ = 0;
  } else if (found.error().code() == errc::permission_denied) {
    expected_ = 0;
    mode_ = commit_mode::direct;
    fall_back("objects may not be looked at here, so that nothing may be replaced");
  } else {
    return opened(std::move(found).error());
  }
  opened({});
}

DATAFLUX_INLINE void object_upload::opened(result<void> outcome) {
  auto done = std::exchange(open_done_, {});
  if (outcome) {
    phase_ = phase::ready;
    return done({});
  }
  failure_ = named(std::move(outcome).error());
  broken_ = true;
  end();
  done(*failure_);
}

DATAFLUX_INLINE void object_upload::reserve(std::uint64_t bytes, completion<void> granted) {
  if (!failure_ && expired()) {
    fail(error(errc::deadline_exceeded, "the upload's time limit passed"));
  }
  if (!failure_ && bytes > 0 && plan_.size_of(pieces_ + 1) == 0) {
    fail(error(errc::out_of_range,
               "the object is larger than what its parts reach, " + std::to_string(plan_.reach()) +
                   " bytes: give size_hint when it is opened, or raise part_size"));
  }
  auto& memory = state_->uploads.memory;
  if (!failure_ && !memory.possible(memory_, bytes)) {
    fail(error(errc::resource_exhausted,
               "parts have grown to " + std::to_string(bytes) +
                   " bytes, more than the other uploads leave of the memory: give size_hint, or "
                   "raise transfer_options::upload_memory"));
  }
  if (failure_) return granted(*failure_);
  memory.acquire(memory_, bytes, std::move(granted));
}

DATAFLUX_INLINE void object_upload::resume(begun_upload earlier) {
  mode_ = earlier.mode;
  if (mode_ == commit_mode::staged) temporary_ = earlier.object;
  begun_ = std::move(earlier);
  path_ = upload_path::multipart;
  phase_ = phase::sending;
}

DATAFLUX_INLINE void object_upload::have(const uploaded_part& part) {
  ++pieces_;
  whole_.append({part.crc32c, part.size});
  checksums_.push_back({part.size, part.crc32c});
  parts_.push_back(part);
}

DATAFLUX_INLINE void object_upload::send(upload_piece piece) {
  take(std::move(piece));
  if (phase_ == phase::ready) return begin();
  pump();
}

DATAFLUX_INLINE void object_upload::take(upload_piece piece) {
  numbered_piece next{static_cast<std::uint32_t>(++pieces_), whole_.length(), std::move(piece)};
  whole_.append({next.piece.crc32c, next.piece.bytes.size()});
  checksums_.push_back({next.piece.bytes.size(), next.piece.crc32c});
  if (failure_) return drop(next);
  if (whole_.length() > store().traits().max_object_size) {
    drop(next);
    return fail(error(
        errc::out_of_range,
        "an object has at most " + std::to_string(store().traits().max_object_size) + " bytes"));
  }
  queue_.push_back(std::move(next));
}

DATAFLUX_INLINE void object_upload::drop(numbered_piece& piece) {
  if (piece.piece.release) std::exchange(piece.piece.release, {})();
  // What is held at the end was given back as a whole.
  if (phase_ == phase::over) return;
  state_->uploads.memory.release(memory_, std::exchange(piece.piece.reserved, 0));
}

DATAFLUX_INLINE void object_upload::pump() {
  if (phase_ != phase::sending) return;
  if (path_ == upload_path::resumable) {
    if (in_flight_ == 0) send_chunk();
    return;
  }
  while (!queue_.empty()) {
    numbered_piece next = std::move(queue_.front());
    queue_.pop_front();
    send_part(std::move(next));
  }
  if (!last_given_ || in_flight_ > 0) return;
  phase_ = phase::ending;
  if (mode_ == commit_mode::direct && expected_) return look_before_complete();
  complete();
}

DATAFLUX_INLINE void object_upload::send_part(numbered_piece next) {
  ++in_flight_;
  const upload_part_request request{.bucket = request_.bucket,
                                    .object = begun_->object,
                                    .upload_id = begun_->upload.upload_id,
                                    .part_number = next.number,
                                    .data = next.piece.bytes,
                                    .crc32c = next.piece.crc32c,
                                    .limits = limits()};
  const time_point at = context_.home().now();
  store().start(request, then<uploaded_part>([sent = std::move(next), at](object_upload& self,
                                                                          auto outcome) mutable {
                  self.part_ended(std::move(sent), at, std::move(outcome));
                }));
}

DATAFLUX_INLINE void object_upload::part_ended(numbered_piece&& sent, time_point at,
                                               result<uploaded_part> outcome) {
  --in_flight_;
  drop(sent);
  if (failure_) return clean();
  if (!outcome) {
    error why = std::move(outcome).error();
    why.with_message("part " + std::to_string(sent.number) + ", from byte " +
                     std::to_string(sent.offset) + " on: " + why.message());
    return fail(std::move(why));
  }
  state_->uploads.sent(outcome->size, context_.home().now() - at);
  state_->counters.uploaded_bytes += outcome->size;
  state_->publish();
  if (on_part_) on_part_(*outcome);
  parts_.push_back(*std::move(outcome));
  pump();
}

DATAFLUX_INLINE void object_upload::send_chunk() {
  if (queue_.empty() && !last_given_) return;
  numbered_piece next{.number = static_cast<std::uint32_t>(pieces_), .offset = whole_.length()};
  if (!queue_.empty()) {
    next = std::move(queue_.front());
    queue_.pop_front();
  }
  const bool last = last_given_ && queue_.empty();
  resumable_chunk_request request{.session = *session_,
                                  .offset = next.offset,
                                  .data = next.piece.bytes,
                                  .last = last,
                                  .limits = limits()};
  if (last) request.crc32c = whole_.crc();
  ++in_flight_;
  store().start(request, then<resumable_progress>([sent = std::move(next), last](
                                                      object_upload& self, auto outcome) mutable {
                  self.chunk_ended(std::move(sent), last, std::move(outcome));
                }));
}

DATAFLUX_INLINE void object_upload::chunk_ended(numbered_piece&& sent, bool last,
                                                const result<resumable_progress>& outcome) {
  --in_flight_;
  state_->counters.uploaded_bytes += outcome ? sent.piece.bytes.size() : 0;
  drop(sent);
  if (failure_) return clean();
  if (!outcome) return fail(outcome.error());
  if (!last) return pump();
  if (!outcome->object) {
    return fail(error(errc::internal, "the last chunk was taken, and there is no object"));
  }
  phase_ = phase::ending;
  session_.reset();
  verify(*outcome->object, &object_upload::committed);
}

DATAFLUX_INLINE bool object_upload::expired() {
  return deadline_ != never && context_.home().now() >= deadline_;
}

DATAFLUX_INLINE error object_upload::named(error why) const {
  if (why.bucket().empty()) why.with_bucket(request_.bucket);
  if (why.object().empty() || why.object() == temporary_) why.with_object(request_.object);
  if (why.code() == errc::already_exists && !request_.advice_if_it_exists.empty()) {
    why.with_message(why.message() + "; " + request_.advice_if_it_exists);
  }
  return why;
}

DATAFLUX_INLINE call_limits object_upload::limits() const {
  call_limits left = request_.limits.until(deadline_, context_.home().now());
  left.stop = stop_.get_token();
  return left;
}

}  // namespace dataflux::inline DATAFLUX_ABI
