#pragma once

#include "queue_member.hpp"

#include <dataflux/exec/operation.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace dataflux_c {

/// An operation of any type of result: what is the same for all.
///
/// The outcome is taken in once, by whoever is first to ask for it when it is there: the queue, a
/// wait, or the caller.
class operation_state : public queue_member {
 public:
  using queue_member::queue_member;

  left take(std::span<dataflux_record> into, std::size_t& count, queue_state& queue) override;
  void dropped() noexcept final;
  /// Nothing if it has not ended; else why it failed, if it did.
  std::optional<result<void>> outcome();
  enum class wait_end : std::uint8_t { ended, timed_out, interrupted };
  wait_end wait(std::int64_t timeout_ns);
  void cancel() noexcept final;
  /// What one that has ended well gives beside its record, as a JSON object: it lives as long as
  /// this. Null for one that gives none.
  const char* json();
  /// Cancels, waits for the end, and tells nobody.
  void end() noexcept;
  /// Somebody has a handle of it, and decides on its end; not the queue.
  void have_handle() noexcept { handled_ = true; }
  bool was_dropped();

 protected:
  /// After join(): the call is under way, and may have been cancelled before.
  void begun();
  client_state& client() const noexcept { return *client_; }

  // Under the lock.
  /// Takes the result in, if it is there.
  virtual bool settle(std::optional<error>& failure) = 0;
  virtual void describe(dataflux_record&) const {}
  /// The record goes out, once: what it brings is the caller's now.
  virtual void give_away(dataflux_record&) noexcept {}
  /// Once, of one that has ended well; empty = it gives none.
  virtual std::string make_json() const { return {}; }
  virtual void stop() noexcept = 0;
  /// Without the lock, by end() alone.
  virtual void wait_out() noexcept = 0;
  virtual void tell(dataflux::completion_queue& queue, std::uint64_t number) = 0;
  /// Calls `then` at the end; not if that is there already.
  virtual void when_ready(dataflux::unique_function<void()> then) = 0;

 private:
  bool ended();
  void wait_out_begun() noexcept;

  bool handled_{false};  ///< set before anything is told of it
  bool dropped_{false};
  bool begun_{false};
  bool settled_{false};
  std::optional<error> failure_{};
  dataflux_record record_{end_record()};
  std::string json_{};
  std::shared_ptr<dataflux::completion_queue> bell_{};  ///< of who waits; what calls it has it, too
};

/// What an operation gives; nothing is something, too.
template <class T>
struct outcome_of {
  using type = T;
};
template <>
struct outcome_of<void> {
  struct type {};
};

template <class T>
class typed_operation : public operation_state {
 public:
  using value_type = typename outcome_of<T>::type;
  using operation_state::operation_state;
  static constexpr bool needs_handle = false;

  /// `start` gives the operation.
  template <class Start>
  void begin(Start start) {
    std::scoped_lock lock(mutex_);
    op_ = start(client());
    begun();
  }
  /// Calls `use` with the value of one that has ended well, once. False where it was taken.
  template <class Use>
  bool take_value(Use use) {
    std::scoped_lock lock(mutex_);
    if (!value_) return false;
    use(*value_);
    value_.reset();
    return true;
  }

 protected:
  bool settle(std::optional<error>& failure) override {
    if (!op_.poll()) return false;
    auto outcome = op_.take();
    if (outcome) {
      if constexpr (std::is_void_v<T>) {
        value_.emplace();
      } else {
        value_.emplace(*std::move(outcome));
      }
    } else {
      failure = std::move(outcome).error();
    }
    return true;
  }
  void stop() noexcept override { op_.cancel(); }
  void wait_out() noexcept override { op_.wait(); }
  void tell(dataflux::completion_queue& queue, std::uint64_t number) override {
    op_.notify(queue, number);
  }
  void when_ready(dataflux::unique_function<void()> then) override {
    static_cast<void>(op_.on_ready(std::move(then)));
  }

  std::optional<value_type> value_{};

 private:
  dataflux::operation<T> op_{};
};

/// One that gives a report: what `Describe` says of it in the record, and `Json` beside.
template <class Report, void (&Describe)(const Report&, dataflux_record&),
          std::string (&Json)(const Report&)>
class report_operation final : public typed_operation<Report> {
 public:
  using typed_operation<Report>::typed_operation;

 protected:
  void describe(dataflux_record& r) const override { Describe(*this->value_, r); }
  std::string make_json() const override { return Json(*this->value_); }
};

/// One of which something is to be taken, so that its record alone is of no use.
template <class T>
class giving_operation : public typed_operation<T> {
 public:
  using typed_operation<T>::typed_operation;
  static constexpr bool needs_handle = true;
};

}  // namespace dataflux_c

struct dataflux_operation : dataflux_c::handle {
  explicit dataflux_operation(std::shared_ptr<dataflux_c::operation_state> s) noexcept
      : state(std::move(s)) {
    state->have_handle();
  }
  ~dataflux_operation() { state->end(); }
  dataflux_operation(const dataflux_operation&) = delete;
  dataflux_operation& operator=(const dataflux_operation&) = delete;
  const std::shared_ptr<dataflux_c::operation_state> state;
};

namespace dataflux_c {

/// Begins an operation: `start` gives it, `more` is what a State is made with beside its tag. The
/// handle, if one is wanted, is made first, so that what was begun is never lost for want of
/// memory.
template <class State, class Start, class... More>
result<void> begin_operation(const std::shared_ptr<client_state>& client, dataflux_queue* queue,
                             std::uint64_t tag, dataflux_operation** out, Start start,
                             More&&... more) {
  if (State::needs_handle && out == nullptr) return missing("out");
  if (queue != nullptr) {
    if (auto good = usable(queue, "queue"); !good) return good;
  }
  if (out == nullptr && queue == nullptr) return missing("queue, and so is out");
  const auto state = std::make_shared<State>(tag, std::forward<More>(more)...);
  std::unique_ptr<dataflux_operation> handle;
  if (out != nullptr) handle = std::make_unique<dataflux_operation>(state);
  auto joined = state->join(client, queue == nullptr ? nullptr : queue->state, state);
  if (!joined) return joined;
  bool goes_on = false;
  const at_end stopped([&]() noexcept {
    if (!goes_on) state->end();
  });
  state->begin(std::move(start));
  // Else its queue was closed while it began: the caller is to have his memory back.
  goes_on = !state->was_dropped();
  if (out != nullptr) *out = handle.release();
  return {};
}
template <class State, class Start, class... More>
result<void> begin_operation(dataflux_client* client, dataflux_queue* queue, std::uint64_t tag,
                             dataflux_operation** out, Start start, More&&... more) {
  if (auto good = usable(client, "client"); !good) return good;
  return begin_operation<State>(client->state, queue, tag, out, std::move(start),
                                std::forward<More>(more)...);
}

/// Good if it has ended well, else why it failed.
inline result<void> ended_well(dataflux_operation* op) {
  if (auto good = usable(op, "operation"); !good) return good;
  if (auto outcome = op->state->outcome()) return *std::move(outcome);
  return error(errc::failed_precondition, "the operation has not ended yet");
}

/// Gives what an operation of type State has made to `make`, which makes a handle of it: once, and
/// if it has ended well. `make` moves the value when all memory is there, and so it may fail.
template <class State, class Handle, class Make>
result<void> take_handle(dataflux_operation* op, const char* what, Handle** out, Make make) {
  static_assert(State::needs_handle);
  if (out == nullptr) return missing("out");
  *out = nullptr;
  if (auto good = usable(op, "operation"); !good) return good;
  auto* const mine = dynamic_cast<State*>(op->state.get());
  if (mine == nullptr) {
    return error(errc::invalid_argument, std::string("the operation gives no ") + what);
  }
  if (auto good = ended_well(op); !good) return good;
  std::unique_ptr<Handle> made;
  if (!mine->take_value([&](typename State::value_type& value) { made = make(value); })) {
    return error(errc::failed_precondition, std::string("the ") + what + " was taken already");
  }
  *out = made.release();
  return {};
}

}  // namespace dataflux_c
