#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/detail/timeout_text.hpp>
#include <dataflux/store/detail/validate.hpp>
#include <dataflux/transfer/detail/object_upload.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE object_upload::object_upload(const transfer_context& context,
                                             upload_request request)
    : coordinator(context.store(), context.strand(), request.limits),
      context_(context),
      state_(context.state()),
      request_(std::move(request)),
      machine_(request_, context.store().traits()) {}

DATAFLUX_INLINE void object_upload::open(upload_memory::source bytes, completion<void> done) {
  open_done_ = std::move(done);
  within_memory([&] { join(bytes); },
                [this] {
                  state_->uploads.memory.leave(memory_);
                  joined(short_of_memory());
                });
}

DATAFLUX_INLINE void object_upload::join(upload_memory::source bytes) {
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
  tell(upload_opened{std::move(outcome)});
}

DATAFLUX_INLINE result<void> object_upload::prepare() {
  using initiate = multipart_initiate_request;
  if (auto good = validate(with_attributes<initiate>(request_, request_.object)); !good) {
    return good;
  }
  preconditions conditions;
  conditions.if_generation_match = request_.if_generation_match;
  if (auto good = validate_conditions(conditions); !good) return good;
  upload_share& share = state_->uploads;
  const store_traits traits = store().traits();
  part_plan_options wanted{.part_size = request_.part_size,
                           .size_hint = request_.size_hint,
                           .memory = share.memory.cap()};
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
  if (const auto why = failure()) return granted(*why);
  memory.acquire(memory_, bytes, std::move(granted));
}

DATAFLUX_INLINE std::optional<error> object_upload::failure() const noexcept {
  if (!given_up_ || machine_.failure()) return machine_.failure();
  return short_of_memory(machine_.may_be_made());
}

DATAFLUX_INLINE void object_upload::unreserve(std::uint64_t bytes) {
  // What is held at the end was given back as a whole.
  if (!ended_) state_->uploads.memory.release(memory_, bytes);
}

DATAFLUX_INLINE void object_upload::resume(begun_upload earlier) {
  tell(upload_resumed{std::move(earlier)});
}

DATAFLUX_INLINE void object_upload::have(const uploaded_part& part) { tell(upload_had{part}); }

DATAFLUX_INLINE void object_upload::send(upload_piece piece) {
  if (const auto held = hold(piece)) tell(upload_given{*held});
}

DATAFLUX_INLINE void object_upload::finish(std::optional<upload_piece> last,
                                           completion<committed_object> done) {
  finish_done_ = std::move(done);
  error why = short_of_memory();
  within_memory([&] { why = error(errc::failed_precondition, "no more bytes will come"); });
  state_->uploads.memory.forget(memory_, why);
  upload_finished end{};
  if (last) end.last = hold(*last);
  tell(end);
}

DATAFLUX_INLINE void object_upload::fail(error why) {
  if (joining_) return state_->uploads.memory.forget(memory_, why);
  tell(upload_refused{std::move(why)});
}

DATAFLUX_INLINE void object_upload::end_late() {
  if (timed_out_ && bounded_ <= 0) {
    fail(error(errc::deadline_exceeded, std::string{timeout_text}));
  }
}

DATAFLUX_INLINE void object_upload::abort(duration timeout, completion<void> done) {
  abort_done_ = std::move(done);
  tell(upload_aborted{timeout});
}

/// Nothing where it fails for want of memory: then nobody reads the piece.
DATAFLUX_INLINE std::optional<part_checksum> object_upload::hold(upload_piece& piece) noexcept {
  const part_checksum about{piece.bytes.size(), piece.crc32c};
  const auto number = static_cast<std::uint32_t>(machine_.pieces() + 1);
  const bool held =
      !given_up_ && within_memory([&] { pieces_.try_emplace(number, std::move(piece)); });
  if (held) return about;
  fail(short_of_memory());
  let_go(piece);
  return std::nullopt;
}

DATAFLUX_INLINE void object_upload::let_go(upload_piece& piece) noexcept {
  within_memory([&] {
    if (piece.release) std::exchange(piece.release, {})();
  });
  unreserve(piece.reserved);
}

template <class Event>
void object_upload::tell(Event what) noexcept {
  within_memory([&] { advance(upload_event(std::move(what))); },
                [this] {
                  give_up();
                  idle();
                });
}

/// What an action leads to while another one is carried out waits for its turn.
DATAFLUX_INLINE void object_upload::advance(upload_event event) noexcept {
  const auto self = shared_from_this();
  if (!given_up_) {
    within_memory(
        [&] {
          auto more = machine_.take(std::move(event), strand().now());
          if (!acting_) return actions_.swap(more);
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
    upload_action next = std::move(actions_[next_action_++]);
    within_memory([&] { next.visit([this](auto& action) { act(action); }); },
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
  if constexpr (std::is_same_v<Action, upload_call>) {
    action.request.visit([&](auto& request) {
      using value = typename std::remove_reference_t<decltype(request)>::value;
      result<value> outcome = short_of_memory();
      tell(upload_answered{action.step, action.piece, std::move(outcome)});
    });
  } else {
    fail(short_of_memory());
    if constexpr (std::is_same_v<Action, upload_wait>) lost_wait(*this, {});
    if constexpr (std::is_same_v<Action, upload_recall>) tell(upload_recalled{});
  }
}

/// It was sent. One that makes the object is alone under way.
template <class Value>
void object_upload::lost_call(object_upload& self, const asked& what) {
  result<Value> outcome = short_of_memory(self.machine_.may_be_made());
  self.tell(upload_answered{what.step, what.piece, std::move(outcome)});
}

DATAFLUX_INLINE void object_upload::lost_wait(object_upload& self, const asked& /*what*/) {
  self.tell(upload_waited{});
}

DATAFLUX_INLINE void object_upload::answered(upload_step step, std::uint32_t piece) noexcept {
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
  if (in_flight() > 0) return;
  if (given_up_) end_given_up();
  if (ended_) release_all();
}

/// Those whose release was lost on its way.
DATAFLUX_INLINE void object_upload::release_all() noexcept {
  while (!pieces_.empty()) act(upload_release{pieces_.begin()->first});
}

/// Without the machine: it ends when nobody reads the pieces any more, and nothing is removed.
DATAFLUX_INLINE void object_upload::give_up() noexcept {
  if (std::exchange(given_up_, true)) return;
  asked_.clear();
  within_memory([this] { act(upload_failed{*failure()}); });
}

DATAFLUX_INLINE void object_upload::end_given_up() noexcept {
  const auto self = shared_from_this();
  if (!ended_) act(upload_ended{});
  const error why = short_of_memory(machine_.may_be_made());
  if (auto done = std::exchange(open_done_, {})) {
    within_memory([&] { done(why); });
  }
  if (auto done = std::exchange(finish_done_, {})) {
    within_memory([&] { done(why); });
  }
  if (auto done = std::exchange(abort_done_, {})) {
    within_memory([&] { done(why); });
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
