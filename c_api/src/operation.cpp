#include "operation.hpp"

namespace dataflux_c {

/// Under the lock.
bool operation_state::ended() {
  if (settled_ || !begun_) return settled_;
  settled_ = settle(failure_);
  if (failure_) complete_failure(*failure_);
  // Now, since its value may be taken before the queue is asked.
  if (settled_ && !failure_) describe(record_);
  return settled_;
}

void operation_state::begun() {
  begun_ = true;
  if (cancelled_) stop();
  if (queue_ != nullptr) tell(queue_->events(), number_);
}

void operation_state::cancel() noexcept {
  std::scoped_lock lock(mutex_);
  cancelled_ = true;
  if (begun_ && !settled_) stop();
}

/// Whoever else has it for a moment, the client that cancels it for one, may be the last to let go:
/// so this waits, and not its destructor.
void operation_state::dropped() noexcept {
  if (handled_) return;
  {
    std::scoped_lock lock(mutex_);
    dropped_ = true;
  }
  cancel();
  wait_out_begun();
}

bool operation_state::was_dropped() {
  std::scoped_lock lock(mutex_);
  return dropped_;
}

void operation_state::end() noexcept {
  cancel();
  leave();
  wait_out_begun();
}

/// Nobody settles it any more.
void operation_state::wait_out_begun() noexcept {
  bool under_way = false;
  {
    std::scoped_lock lock(mutex_);
    under_way = begun_ && !settled_;
  }
  if (under_way) wait_out();
}

record_source::left operation_state::take(std::span<dataflux_record> into, std::size_t& count,
                                          queue_state& queue) {
  std::scoped_lock lock(mutex_);
  if (!ended()) return left::asleep;
  dataflux_record& r = into[0] = record_;
  if (failure_) {
    queue.fail(r, *failure_);
  } else {
    give_away(r);
  }
  ++count;
  return left::nothing;
}

std::optional<result<void>> operation_state::outcome() {
  std::scoped_lock lock(mutex_);
  if (!ended()) return std::nullopt;
  if (failure_) return result<void>(error(*failure_));
  return result<void>();
}

const char* operation_state::json() {
  std::scoped_lock lock(mutex_);
  if (json_.empty()) json_ = make_json();
  return json_.empty() ? nullptr : json_.c_str();
}

operation_state::wait_end operation_state::wait(std::int64_t timeout_ns) {
  std::shared_ptr<dataflux::completion_queue> bell;
  {
    std::scoped_lock lock(mutex_);
    if (ended()) return wait_end::ended;
    if (timeout_ns == 0) return wait_end::timed_out;
    if (bell_ == nullptr) {
      bell = std::make_shared<dataflux::completion_queue>();
      make_room_for_one(*bell);  // the thread that rings it must not fail
      when_ready([bell] { bell->push({}); });
      bell_ = bell;
    }
    if (ended()) return wait_end::ended;  // before it could be told
    bell = bell_;
  }
  using how = dataflux::completion_queue::wait_end;
  // It rings once, and for all who wait: nobody takes the event.
  switch (bell->wait(wait_of(timeout_ns))) {
    case how::interrupted:
      return wait_end::interrupted;
    case how::timed_out:
      return wait_end::timed_out;
    case how::ready:
      break;
  }
  std::scoped_lock lock(mutex_);
  return ended() ? wait_end::ended : wait_end::timed_out;
}

}  // namespace dataflux_c

using dataflux_c::errc;
using dataflux_c::error;
using dataflux_c::operation_state;
using dataflux_c::result;
using dataflux_c::usable;

dataflux_status dataflux_operation_wait(dataflux_operation* op, int64_t timeout_ns,
                                        dataflux_error** err) {
  auto how = operation_state::wait_end::ended;
  const dataflux_status status = dataflux_c::guarded(err, [&]() -> result<void> {
    if (auto good = usable(op, "operation"); !good) return good;
    how = op->state->wait(timeout_ns);
    if (how != operation_state::wait_end::timed_out) return {};
    return error(errc::deadline_exceeded, "the operation has not ended yet");
  });
  const bool interrupted = how == operation_state::wait_end::interrupted;
  return status == DATAFLUX_OK && interrupted ? DATAFLUX_INTERRUPTED : status;
}

void dataflux_operation_cancel(dataflux_operation* op) {
  dataflux_c::if_own(op, [op] { op->state->cancel(); });
}

dataflux_status dataflux_operation_result(dataflux_operation* op, dataflux_error** err) {
  return dataflux_c::guarded(err, [&] { return dataflux_c::ended_well(op); });
}

dataflux_status dataflux_operation_json(dataflux_operation* op, const char** json,
                                        dataflux_error** err) {
  return dataflux_c::guarded(err, [&]() -> result<void> {
    if (json == nullptr) return dataflux_c::missing("json");
    *json = nullptr;
    if (auto good = dataflux_c::ended_well(op); !good) return good;
    *json = op->state->json();
    if (*json != nullptr) return {};
    return error(errc::invalid_argument, "the operation gives nothing but its record");
  });
}

void dataflux_operation_free(dataflux_operation* op) { dataflux_c::free_handle(op); }
