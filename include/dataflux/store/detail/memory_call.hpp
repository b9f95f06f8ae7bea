#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/exec/detail/stop_watch.hpp>
#include <dataflux/store/detail/memory_service.hpp>
#include <dataflux/store/detail/shared_link.hpp>
#include <dataflux/store/detail/validate.hpp>
#include <dataflux/store/memory_store.hpp>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

class memory_call;

/// What the calls of one memory_store share. Outlives the store while completions are due.
struct memory_store_state {
  memory_store_state(scheduler& executor, memory_store_options o);

  /// Cancels everything under way and whatever comes later.
  void close();
  /// Takes a connection, or a place in the line for one.
  void connect(std::shared_ptr<memory_call> call);
  void disconnect();
  /// False if the request rate is above its limit.
  bool admit();
  /// Uniform in [0, 1).
  double dice() noexcept;
  /// A factor with the median 1; `sigma` is that of its logarithm.
  double log_normal(double sigma) noexcept;
  /// One way of a round trip, with jitter.
  duration half_trip();
  /// How long this request is to hang, usually zero.
  duration draw_stall();
  injected_fault draw_fault(store_verb verb, std::string_view object);

  scheduler& clock;
  const memory_store_options options;
  memory_service service;
  shared_link up;
  shared_link down;
  fault_script faults{};
  std::map<std::string, std::uint64_t, std::less<>> arrivals{};
  memory_store_counters totals{};
  std::map<std::uint64_t, std::shared_ptr<memory_call>> active{};
  std::uint64_t last_call{0};
  std::deque<std::shared_ptr<memory_call>> line{};
  std::uint32_t connected{0};
  double tokens{0};
  const time_point made_at;
  time_point tokens_at{};
  std::uint64_t random;
  bool closed{false};
};

/// One call on its way: begin, connect, send, arrive, serve, reply, receive, end, deliver. Each
/// step is a task or a timer of the scheduler that holds the call alive; end() undoes what is
/// pending, from any step, and runs once.
class memory_call : public std::enable_shared_from_this<memory_call> {
 public:
  memory_call(std::shared_ptr<memory_store_state> store, store_verb verb, std::string bucket,
              std::string object, std::int64_t generation, const call_limits& limits);
  memory_call(const memory_call&) = delete;
  memory_call& operator=(const memory_call&) = delete;
  virtual ~memory_call() = default;

  /// `valid` is what validation said; an error goes to the completion without any network.
  void start(result<void> valid);
  void connected();
  void stop_heard() noexcept;
  /// Ends the call with what set_error or serve has left. Nothing if it has ended.
  void end();
  void end(error e);
  bool ended() const noexcept { return ended_; }

 protected:
  /// The work of the service; its outcome is kept for deliver(). False if it failed.
  virtual bool serve() = 0;
  /// The reply has come: end(), or a body first.
  virtual void receive() { end(); }
  virtual void set_error(error e) = 0;
  /// The error the call ends with, if it is one.
  virtual error* failure() noexcept = 0;
  virtual void deliver() = 0;
  virtual std::uint64_t bytes_to_send() const noexcept { return 0; }
  virtual std::size_t listed() const noexcept { return 0; }

  /// Goes on with `step` later; one step is pending at a time.
  template <class Call>
  void after(duration wait, void (Call::*step)()) {
    timer_ = store_->clock.at(deadline_after(store_->clock.now(), wait), step_task(step));
  }
  template <class Call>
  void after_bytes(shared_link& link, std::uint64_t count, void (Call::*step)()) {
    link_ = &link;
    transfer_ = link.start(count, step_task(step), weight_);
  }

  const std::shared_ptr<memory_store_state> store_;
  injected_fault fault_{};
  duration stall_{0};

 private:
  template <class Call>
  task step_task(void (Call::*step)()) {
    return [self = std::static_pointer_cast<Call>(shared_from_this()), step] {
      if (!self->ended()) ((*self).*step)();
    };
  }
  void begin();
  void send();
  void arrive();
  void work();
  void reply();

  const store_verb verb_;
  const std::string bucket_;
  const std::string object_;
  const std::int64_t generation_;
  call_limits limits_;
  const time_point started_;
  std::uint64_t id_{0};
  double weight_{1};  ///< of its transfers on the link
  int attempts_{0};
  bool holds_connection_{false};
  bool ended_{false};
  timer_id timer_{timer_id::none};
  timer_id deadline_{timer_id::none};
  shared_link* link_{nullptr};
  timer_id transfer_{timer_id::none};
  stop_watch on_stop_{};
};

/// The outcome and its completion.
template <class T>
class typed_memory_call : public memory_call {
 public:
  template <class... Args>
  explicit typed_memory_call(object_store::completion<T> done, Args&&... args)
      : memory_call(std::forward<Args>(args)...), done_(std::move(done)) {}

 protected:
  void set_error(error e) override { outcome_.emplace(std::move(e)); }
  error* failure() noexcept override {
    return outcome_->has_value() ? nullptr : &outcome_->error();
  }
  void deliver() override {
    auto done = std::move(done_);
    done(std::move(*outcome_));
  }
  std::optional<result<T>> outcome_{};

 private:
  object_store::completion<T> done_;
};

/// A verb that is one function of the service.
template <class T, class Request, auto Function>
class memory_verb_call final : public typed_memory_call<T> {
 public:
  memory_verb_call(std::shared_ptr<memory_store_state> store, store_verb verb, const Request& r,
                   object_store::completion<T> done)
      : typed_memory_call<T>(std::move(done), std::move(store), verb, r.bucket, object_of(r),
                             generation_of(r), r.limits),
        request_(r) {}

 private:
  static std::string object_of(const Request& r) {
    if constexpr (requires { r.object; }) {
      return r.object;
    } else {
      return {};
    }
  }
  static std::int64_t generation_of(const Request& r) noexcept {
    if constexpr (requires { r.generation; }) {
      return r.generation;
    } else {
      return 0;
    }
  }
  bool serve() override {
    this->outcome_.emplace((this->store_->service.*Function)(request_));
    return this->outcome_->has_value();
  }
  std::uint64_t bytes_to_send() const noexcept override {
    if constexpr (requires { request_.data; }) {
      return request_.data.size();
    } else {
      return 0;
    }
  }
  std::size_t listed() const noexcept override {
    if constexpr (std::is_same_v<T, list_page>) {
      const list_page& page = **this->outcome_;
      return page.objects.size() + page.prefixes.size();
    } else {
      return 0;
    }
  }
  const Request request_;
};

/// A read: the service's part, then the body in pieces.
class memory_read_call final : public typed_memory_call<read_summary> {
 public:
  memory_read_call(std::shared_ptr<memory_store_state> store, const read_request& r,
                   byte_sink& sink, object_store::completion<read_summary> done);

 private:
  DATAFLUX_INLINE bool serve() override;
  DATAFLUX_INLINE void receive() override;
  void next_piece();
  void take_piece();
  result<void> feed(std::uint64_t count);
  void check();

  const read_request request_;
  byte_sink& sink_;
  memory_service::stored object_{};
  std::uint64_t offset_{0};
  std::uint64_t length_{0};
  std::uint64_t stall_at_{0};
  std::uint64_t piece_{0};
};

template <auto Function, class T, class Request>
void start_call(const std::shared_ptr<memory_store_state>& store, store_verb verb, const Request& r,
                object_store::completion<T> done) {
  auto call =
      std::make_shared<memory_verb_call<T, Request, Function>>(store, verb, r, std::move(done));
  call->start(validate(r));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/memory_store_call.ipp>
#endif
