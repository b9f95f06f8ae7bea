#pragma once

#include <dataflux/transfer/detail/object_upload.hpp>
#include <dataflux/transfer/detail/temporary_object.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <type_traits>
#include <utility>

/// What the machine wants to be done, one function for each action.
namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE void object_upload::act(upload_call& call) {
  const auto start = [this, &call](auto& request) {
    using request_type = std::remove_reference_t<decltype(request)>;
    if (call.bounded) request.limits = limits();
    if constexpr (requires { request.data; }) {
      const auto found = pieces_.find(call.piece);
      if (found != pieces_.end()) request.data = found->second.bytes;
    }
    const auto take = [step = call.step, piece = call.piece, bounded = call.bounded](
                          object_upload& self, auto outcome) {
      self.bounded_ -= bounded ? 1 : 0;
      std::optional<error> late;
      if (self.timed_out_ && bounded && !outcome) late = outcome.error();
      // What finds no memory for this is answered when nothing is under way any more (idle).
      upload_event event(upload_answered{step, piece, std::move(outcome)});
      self.answered(step, piece);
      if (late && late->code() == errc::deadline_exceeded) self.fail(*late);
      self.advance(std::move(event));
      self.end_late();
    };
    using value = typename request_type::value;
    asked_.push_back({call.step, call.piece, &object_upload::lost_call<value>});
    taken_back_unless_kept asks([&] { answered(call.step, call.piece); });
    store().start(request, then<value>(take));
    asks.kept();
    bounded_ += call.bounded ? 1 : 0;  // an answer may have come before
  };
  call.request.visit(start);
}

DATAFLUX_INLINE void object_upload::act(const upload_wait& pause) {
  strand().at(strand().now() + pause.wait, [self = shared_from_this()] {
    self->one_less();
    self->tell(upload_waited{});
  });
  one_more();
}

DATAFLUX_INLINE void object_upload::act(const upload_recall& question) {
  upload_recalled answer{.temporary = temporary_object_name(request_.object)};
  const auto known = state_->uploads.staging.find(question.folder);
  if (known != state_->uploads.staging.end()) answer.lore = known->second;
  tell(std::move(answer));
}

DATAFLUX_INLINE void object_upload::act(const upload_release& end) {
  state_->counters.uploaded_bytes += end.taken;
  if (auto node = pieces_.extract(end.piece)) let_go(node.mapped());
}

DATAFLUX_INLINE void object_upload::act(upload_remember& learned) {
  state_->uploads.staging[learned.folder] = std::move(learned.lore);
}

DATAFLUX_INLINE void object_upload::act(const upload_tell_begun& news) {
  if (on_begun_) on_begun_(news.begun);
}

DATAFLUX_INLINE void object_upload::act(const upload_tell_part& news) {
  state_->publish();
  if (on_part_) on_part_(news.part);
}

DATAFLUX_INLINE void object_upload::act(const upload_log& news) {
  if (request_.observer != nullptr) request_.observer->on_log(log_level::warning, news.line);
}

DATAFLUX_INLINE void object_upload::act(const upload_failed& failed) {
  if (auto told = std::exchange(on_failed_, {})) {
    within_memory([&] { told(failed.why); });
  }
  broken_ = true;
  stop_requests();
  state_->uploads.memory.forget(memory_, failed.why);
}

DATAFLUX_INLINE void object_upload::act(const upload_ended& end) {
  ended_ = true;
  unwatch();
  if (end.committed) ++state_->counters.uploads;
  release_all();
  state_->uploads.memory.leave(memory_);
  state_->publish();
  on_begun_ = {};
  on_part_ = {};
  on_failed_ = {};
}

DATAFLUX_INLINE void object_upload::act(upload_deliver_open& answer) {
  if (auto done = std::exchange(open_done_, {})) done(std::move(answer.outcome));
}

DATAFLUX_INLINE void object_upload::act(upload_deliver_commit& answer) {
  std::exchange(finish_done_, {})(std::move(answer.outcome));
}

DATAFLUX_INLINE void object_upload::act(upload_deliver_abort& answer) {
  std::exchange(abort_done_, {})(std::move(answer.outcome));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
