#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/store/detail/validate.hpp>
#include <dataflux/transfer/detail/object_upload.hpp>
#include <dataflux/transfer/detail/temporary_object.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE object_upload::object_upload(const transfer_context& context,
                                             upload_request request)
    : coordinator(context.store(), context.strand(), request.limits),
      context_(context),
      state_(context.state()),
      request_(std::move(request)),
      machine_(request_, context.store().traits().max_object_size) {}

DATAFLUX_INLINE void object_upload::open(detail::upload_memory::source bytes,
                                         completion<void> done) {
  open_done_ = std::move(done);
  detail::within_memory([&] { join(bytes); },
                        [this] {
                          state_->uploads.memory.leave(memory_);
                          joined(detail::short_of_memory());
                        });
}

DATAFLUX_INLINE void object_upload::join(detail::upload_memory::source bytes) {
  if (auto good = prepare(); !good) return joined(std::move(good));
  auto& memory = state_->uploads.memory;
  joining_ = true;
  if (!watch_stop()) stop_heard();
  watch_deadline();
  const bool may =
      memory.join(memory_, plan_.first_size(), bytes,
                  [self = shared_from_this()](result<void> o) { self->joined(std::move(o)); });
  if (may) return;
  joined(error(errc::resource_exhausted,
               "a part of " + std::to_string(plan_.first_size()) +
                   " bytes is more than the writers that are open leave of their memory of " +
                   std::to_string(memory.cap()) +
                   " bytes: end some of them first, or raise upload_memory"));
}

DATAFLUX_INLINE void object_upload::joined(result<void> outcome) {
  joining_ = false;
  tell(detail::upload_opened{std::move(outcome)});
}

DATAFLUX_INLINE result<void> object_upload::prepare() {
  using initiate = multipart_initiate_request;
  if (auto good = validate(detail::with_attributes<initiate>(request_, request_.object)); !good) {
    return good;
  }
  preconditions conditions;
  conditions.if_generation_match = request_.if_generation_match;
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
  return {};
}

DATAFLUX_INLINE void object_upload::reserve(std::uint64_t bytes, completion<void> granted) {
  if (bytes > 0 && plan_.size_of(machine_.pieces() + 1) == 0) {
    fail(error(errc::out_of_range,
               "the object is larger than what its parts reach, " + std::to_string(plan_.reach()) +
                   " bytes: give size_hint when it is opened, or raise part_size"));
  }
  auto& memory = state_->uploads.memory;
  if (!memory.possible(memory_, bytes)) {
    fail(error(errc::resource_exhausted,
               "parts have grown to " + std::to_string(bytes) +
                   " bytes, more than the other uploads leave of the memory: give size_hint, or "
                   "raise upload_memory"));
  }
  if (machine_.failure()) return granted(*machine_.failure());
  memory.acquire(memory_, bytes, std::move(granted));
}

DATAFLUX_INLINE void object_upload::unreserve(std::uint64_t bytes) {
  // What is held at the end was given back as a whole.
  if (!ended_) state_->uploads.memory.release(memory_, bytes);
}

DATAFLUX_INLINE void object_upload::divide(std::uint64_t size) {
  tell(detail::upload_planned{plan_.sizes(size)});
}

DATAFLUX_INLINE void object_upload::keep(std::uint64_t bytes, completion<void> granted) {
  if (machine_.failure()) return granted(*machine_.failure());
  auto& memory = state_->uploads.memory;
  if (!memory.own_more(memory_, bytes)) {
    return granted(error(errc::resource_exhausted,
                         "a part of " + std::to_string(bytes) +
                             " bytes cannot be begun: what is begun elsewhere and not full leaves "
                             "too little of the memory of " +
                             std::to_string(memory.cap()) +
                             " bytes; fill that first, or raise upload_memory"));
  }
  memory.acquire(memory_, bytes, std::move(granted));
}

DATAFLUX_INLINE void object_upload::resume(begun_upload earlier) {
  tell(detail::upload_resumed{std::move(earlier)});
}

DATAFLUX_INLINE void object_upload::have(const uploaded_part& part) {
  tell(detail::upload_had{part});
}

DATAFLUX_INLINE void object_upload::send(upload_piece piece) {
  const std::uint32_t number = piece.number;
  if (piece.kept && !ended_) state_->uploads.memory.own_less(memory_, piece.reserved);
  detail::upload_given given{{}, number};
  const bool held = detail::within_memory([&] { given.piece = hold(std::move(piece)); });
  if (!held) return fail(detail::short_of_memory());
  tell(given);
}

DATAFLUX_INLINE void object_upload::finish(std::optional<upload_piece> last,
                                           completion<committed_object> done) {
  finish_done_ = std::move(done);
  error why = detail::short_of_memory();
  detail::within_memory([&] { why = error(errc::failed_precondition, "no more bytes will come"); });
  state_->uploads.memory.forget(memory_, why);
  detail::upload_finished end{};
  detail::within_memory(
      [&] {
        if (last) end.last = hold(*std::move(last));
      },
      [this] { fail(detail::short_of_memory()); });
  tell(end);
}

DATAFLUX_INLINE void object_upload::fail(error why) {
  if (joining_) return state_->uploads.memory.forget(memory_, why);
  tell(detail::upload_refused{std::move(why)});
}

DATAFLUX_INLINE void object_upload::end_late() {
  if (timed_out_ && bounded_ <= 0) {
    fail(error(errc::deadline_exceeded, "the call's timeout has passed"));
  }
}

DATAFLUX_INLINE void object_upload::abort(duration timeout, completion<void> done) {
  abort_done_ = std::move(done);
  tell(detail::upload_aborted{timeout});
}

DATAFLUX_INLINE part_checksum object_upload::hold(upload_piece piece) {
  const part_checksum about{piece.bytes.size(), piece.crc32c};
  const std::uint32_t number =
      piece.number != 0 ? piece.number : static_cast<std::uint32_t>(machine_.pieces() + 1);
  pieces_.emplace(number, std::move(piece));
  return about;
}

template <class Event>
void object_upload::tell(Event what) noexcept {
  detail::within_memory([&] { advance(detail::upload_event(std::move(what))); },
                        [this] {
                          give_up();
                          idle();
                        });
}

/// What an action leads to while another one is carried out waits for its turn.
DATAFLUX_INLINE void object_upload::advance(detail::upload_event event) noexcept {
  const auto self = shared_from_this();
  if (!given_up_) {
    detail::within_memory(
        [&] {
          auto more = machine_.take(std::move(event), strand().now());
          actions_.reserve(actions_.size() + more.size());
          for (auto& action : more) actions_.push_back(std::move(action));
        },
        [this] { give_up(); });
  }
  if (acting_) return;
  act_all();
  idle();
}

DATAFLUX_INLINE void object_upload::act_all() noexcept {
  acting_ = true;
  while (next_action_ < actions_.size()) {
    detail::upload_action next = std::move(actions_[next_action_++]);
    detail::within_memory([&] { next.visit([this](auto& action) { act(action); }); },
                          [&] { next.visit([this](auto& action) { act_short(action); }); });
  }
  actions_.clear();
  next_action_ = 0;
  acting_ = false;
}

/// The action could not be carried out for want of memory. A request that was not begun has failed,
/// at once or when nothing is under way any more (idle); of all else the upload fails.
template <class Action>
void object_upload::act_short(Action& action) {
  if constexpr (std::is_same_v<Action, detail::upload_call>) {
    action.request.visit([&](auto& request) {
      using value = typename std::remove_reference_t<decltype(request)>::value;
      lost_call<value>(*this, {action.step, action.piece, {}});
    });
  } else {
    fail(detail::short_of_memory());
    if constexpr (std::is_same_v<Action, detail::upload_wait>) lost_wait(*this, {});
    if constexpr (std::is_same_v<Action, detail::upload_recall>) tell(detail::upload_recalled{});
  }
}

template <class Value>
void object_upload::lost_call(object_upload& self, const asked& what) {
  result<Value> outcome = detail::short_of_memory();
  self.tell(detail::upload_answered{what.step, what.piece, std::move(outcome), {}});
}

DATAFLUX_INLINE void object_upload::lost_wait(object_upload& self, const asked& /*what*/) {
  self.tell(detail::upload_waited{});
}

DATAFLUX_INLINE void object_upload::answered(detail::upload_step step,
                                             std::uint32_t piece) noexcept {
  const auto found = std::find_if(asked_.begin(), asked_.end(), [&](const asked& each) {
    return each.step == step && each.piece == piece;
  });
  if (found == asked_.end()) return;
  *found = asked_.back();
  asked_.pop_back();
}

DATAFLUX_INLINE void object_upload::idle() noexcept {
  if (acting_) return;
  while (in_flight() == 0 && !given_up_ && !asked_.empty()) {
    const asked lost = asked_.back();
    asked_.pop_back();
    lost.lost(*this, lost);
  }
  if (in_flight() == 0 && given_up_) end_given_up();
}

/// Without the machine: it ends when nobody reads the pieces any more, and nothing is removed.
DATAFLUX_INLINE void object_upload::give_up() noexcept {
  if (std::exchange(given_up_, true)) return;
  asked_.clear();
  detail::within_memory([this] { act(detail::upload_failed{detail::short_of_memory()}); });
}

DATAFLUX_INLINE void object_upload::end_given_up() noexcept {
  const auto self = shared_from_this();
  if (!ended_) {
    detail::within_memory([this] { act(detail::upload_ended{}); });
  }
  const error why = detail::short_of_memory();
  if (auto done = std::exchange(open_done_, {})) {
    detail::within_memory([&] { done(why); });
  }
  if (auto done = std::exchange(finish_done_, {})) {
    detail::within_memory([&] { done(why); });
  }
  if (auto done = std::exchange(abort_done_, {})) {
    detail::within_memory([&] { done(why); });
  }
}

DATAFLUX_INLINE void object_upload::act(detail::upload_call& call) {
  const auto start = [this, &call](auto& request) {
    using request_type = std::remove_reference_t<decltype(request)>;
    if (call.bounded) request.limits = limits();
    if constexpr (requires { request.data; }) {
      const auto found = pieces_.find(call.piece);
      if (found != pieces_.end()) request.data = found->second.bytes;
    }
    const auto take = [step = call.step, piece = call.piece, bounded = call.bounded,
                       at = strand().now()](object_upload& self, auto outcome) {
      const duration took = self.strand().now() - at;
      self.bounded_ -= bounded ? 1 : 0;
      std::optional<error> late;
      if (self.timed_out_ && bounded && !outcome) late = outcome.error();
      // What finds no memory for this is answered when nothing is under way any more (idle).
      detail::upload_event event(detail::upload_answered{step, piece, std::move(outcome), took});
      self.answered(step, piece);
      if (late && late->code() == errc::deadline_exceeded) self.fail(*late);
      self.advance(std::move(event));
      self.end_late();
    };
    using value = typename request_type::value;
    asked_.push_back({call.step, call.piece, &object_upload::lost_call<value>});
    detail::taken_back_unless_kept asks([&] { answered(call.step, call.piece); });
    store().start(request, then<value>(take));
    asks.kept();
    bounded_ += call.bounded ? 1 : 0;  // an answer may have come before
  };
  call.request.visit(start);
}

DATAFLUX_INLINE void object_upload::act(const detail::upload_wait& pause) {
  strand().at(strand().now() + pause.wait, [self = shared_from_this()] {
    self->one_less();
    self->tell(detail::upload_waited{});
  });
  one_more();
}

DATAFLUX_INLINE void object_upload::act(const detail::upload_recall& question) {
  detail::upload_recalled answer{.temporary = temporary_object_name(request_.object)};
  const auto known = state_->uploads.staging.find(question.folder);
  if (known != state_->uploads.staging.end()) answer.lore = known->second;
  tell(std::move(answer));
}

DATAFLUX_INLINE void object_upload::act(const detail::upload_release& end) {
  state_->counters.uploaded_bytes += end.taken;
  auto node = pieces_.extract(end.piece);
  if (!node) return;
  upload_piece& piece = node.mapped();
  detail::within_memory([&] {
    if (piece.release) std::exchange(piece.release, {})();
  });
  unreserve(piece.reserved);
}

DATAFLUX_INLINE void object_upload::act(const detail::upload_overhead& learned) {
  state_->uploads.answered(learned.took);
}

DATAFLUX_INLINE void object_upload::act(detail::upload_remember& learned) {
  state_->uploads.staging[learned.folder] = std::move(learned.lore);
}

DATAFLUX_INLINE void object_upload::act(const detail::upload_tell_begun& news) {
  if (on_begun_) on_begun_(news.begun);
}

DATAFLUX_INLINE void object_upload::act(const detail::upload_tell_part& news) {
  state_->uploads.sent(news.part.size, news.took);
  state_->publish();
  if (on_part_) on_part_(news.part);
}

DATAFLUX_INLINE void object_upload::act(const detail::upload_log& news) {
  if (request_.observer != nullptr) request_.observer->on_log(log_level::warning, news.line);
}

DATAFLUX_INLINE void object_upload::act(const detail::upload_failed& failed) {
  if (auto told = std::exchange(on_failed_, {})) {
    detail::within_memory([&] { told(failed.why); });
  }
  broken_ = true;
  stop_requests();
  state_->uploads.memory.forget(memory_, failed.why);
}

DATAFLUX_INLINE void object_upload::act(const detail::upload_ended& end) {
  ended_ = true;
  unwatch();
  if (end.committed) ++state_->counters.uploads;
  // Those that were lost on their way.
  while (!pieces_.empty()) act(detail::upload_release{pieces_.begin()->first});
  state_->uploads.memory.leave(memory_);
  state_->publish();
  on_begun_ = {};
  on_part_ = {};
  on_failed_ = {};
}

DATAFLUX_INLINE void object_upload::act(detail::upload_deliver_open& answer) {
  if (auto done = std::exchange(open_done_, {})) done(std::move(answer.outcome));
}

DATAFLUX_INLINE void object_upload::act(detail::upload_deliver_commit& answer) {
  std::exchange(finish_done_, {})(std::move(answer.outcome));
}

DATAFLUX_INLINE void object_upload::act(detail::upload_deliver_abort& answer) {
  std::exchange(abort_done_, {})(std::move(answer.outcome));
}

}  // namespace dataflux::inline DATAFLUX_ABI
