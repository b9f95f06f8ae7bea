#pragma once

#include <dataflux/detail/collecting_sink.hpp>
#include <dataflux/detail/seconds.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/http/detail/transport.hpp>
#include <dataflux/service/detail/client_core.hpp>
#include <dataflux/service/detail/reply_facts.hpp>
#include <dataflux/service/detail/verb.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// What must move in that time.
inline std::uint64_t least_bytes_in(const call_options& o, duration time) noexcept {
  return static_cast<std::uint64_t>(static_cast<double>(o.least_throughput) * to_seconds(time));
}

/// One call of a verb with all its attempts: waits for a credential and for its turn, sends, reads
/// the reply, and decides what is next. What differs between verbs is in the virtual functions.
///
/// Made and launched on the caller's thread; from begin() on everything runs on one executor, so
/// that nothing here needs a lock. It is kept alive by whatever will continue it: the transport, a
/// timer, the signer, or a posted task. Calls of a kind that comes in streams are kept by the
/// core when they have ended, and used again with the capacity of their strings.
class call : public http::exchange {
 public:
  /// `verb`: its number among those of the dialect.
  call(const buffer_pool& buffers, std::size_t verb) : verb_(verb), body_(buffers) {}

  /// Registers the call and posts its beginning. `bad` = why it must fail before any request.
  void launch(const call_limits& allowed, std::optional<error> bad);
  /// Asks for an early end; any thread. Short of memory it comes by the call's own limits.
  void stop() noexcept;
  void stop_heard() noexcept { stop(); }

 protected:
  /// A call of that kind, kept or new, that belongs to `core`. Only calls of type Call are `kind`.
  template <class Call>
  static ref<Call> take(ref<client_core> core, const verb_info& kind) {
    call* const spare = core->take_spare(kind);
    Call* const made = spare != nullptr ? static_cast<Call*>(spare) : new Call(core->buffers);
    made->reuse(std::move(core));
    return ref<Call>::adopt(made);
  }
  /// Whether it is worth being kept.
  virtual bool recycled() const noexcept { return false; }
  client_core& core() noexcept { return *core_; }

  virtual const verb_info& info() const noexcept = 0;
  virtual call_identity identity() const noexcept = 0;
  /// The same of the attempt's own request.
  call_identity asked() const noexcept {
    call_identity about = identity();
    about.head = request.method == http::method::head;
    return about;
  }
  virtual bool repeatable() const noexcept = 0;
  virtual void build() = 0;
  /// A head that the verb takes for a success by its status alone.
  virtual bool accepts(int status) const noexcept { return status >= 200 && status <= 299; }
  /// Where the body of an accepted reply goes.
  virtual result<byte_sink*> open_body(const http::reply_head& head) = 0;
  enum class progress : std::uint8_t {
    done,
    more,   ///< the next request follows; what was achieved so far is safe
    again,  ///< the next request follows; nothing was achieved
  };
  /// The reply is complete: its value is taken, or an error (retryable or not) says what is wrong.
  virtual result<progress> take_reply() = 0;
  /// Before the next request of a call that goes on.
  virtual duration pause() const noexcept { return duration::zero(); }
  /// What no error may show, whatever the service writes into its own.
  virtual std::array<std::string_view, 2> own_secrets() const noexcept { return {}; }
  /// See service::outgoing.
  virtual std::string_view body_digest() const noexcept { return {}; }
  /// A body that is refused for its checksum has changed nothing, and is sent again.
  virtual bool damage_is_repeated() const noexcept { return false; }
  /// Before another attempt. An error ends the call.
  virtual result<void> prepare_retry() { return {}; }
  /// The last word: calls the completion. Null = success.
  virtual void conclude(std::optional<error> failure) noexcept = 0;
  /// A chance to find out more before the call fails; true if finish() will be called later.
  virtual bool investigate(const error&, bool /*outcome_unknown*/) { return false; }
  /// Sent again though not repeatable(): after an outcome that is not known, look_first() comes in
  /// between.
  virtual bool survives() const noexcept { return false; }
  /// Before a request is sent again. True if go_on() or finish() will be called later. `silent`:
  /// there was no whole reply to one that may have been carried out.
  virtual bool look_first(const error&, bool /*silent*/) { return false; }
  /// After look_first(): sends it again.
  void go_on(const error& e);

  void finish(std::optional<error> failure) noexcept;
  /// Makes a step on the executor; where memory is short the call ends with that.
  template <class Step>
  void within_memory(Step&& step) noexcept {
    detail::within_memory(static_cast<Step&&>(step), [this] { finish_short(); });
  }
  /// Remembers why the body's sink ends the exchange, which carries a text only.
  error refuse(const error& why) {
    refusal_ = why;
    return why;
  }
  time_point deadline() const noexcept { return deadline_; }
  /// When the first request was sent.
  time_point first_sent() const noexcept { return first_sent_; }
  int attempts() const noexcept { return retry_.attempts; }
  /// Attempts that the service refused for their rate: 429, or what means the same.
  int refusals() const noexcept { return refusals_; }
  /// The same for all attempts.
  const call_id& id() const noexcept { return id_; }
  collecting_sink& reply_body() noexcept { return body_; }
  const reply_facts& facts() const noexcept { return facts_; }
  whole_reply reply() const noexcept { return {facts_, body_.bytes(), body_.readable()}; }
  /// Ends a side call of investigate(): the call's own limits hold for it, too.
  call_limits remaining_limits() const;
  void wait_until(time_point when, void (call::*then)());
  /// Takes out of it what nobody may see.
  void keep_secret(error& e) const;
  bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }

 private:
  DATAFLUX_INLINE void last_reference_gone() noexcept final;
  void reuse(ref<client_core> core) noexcept;

  enum class phase : std::uint8_t { idle, credential, turn, wait, exchange, finished };
  void finish_short() noexcept;
  void name(error& failure);
  void end_turn(http::pace_outcome outcome) noexcept;
  void ended(http::exchange_report& report);
  void begin();
  void attempt() { attempt_at(executor->now()); }
  void attempt_at(time_point now);
  void with_credential(const credential_view& given, time_point now);
  void without_credential(const error& e);
  void on_turn(time_point admitted);
  void send(time_point admitted);
  void watch_deadline();
  void cancel_here();
  void deadline_here();
  DATAFLUX_INLINE result<byte_sink*> on_head(const http::reply_head& head) final;
  DATAFLUX_INLINE void on_moved(std::size_t sent, std::size_t received) noexcept final;
  DATAFLUX_INLINE void on_done(http::exchange_report& report) noexcept final;
  bool got_on(const http::exchange_report& report) const;
  void settle(const http::exchange_report& report);
  void settle(error e);
  bool sent_damaged(error& e);
  bool may_be_mended(const error& e);
  bool is_elsewhere();
  bool is_led_on(const http::exchange_report& report);
  error error_of(const http::exchange_report& report);
  bool asks_why(const error& e);
  bool is_answered() const noexcept;
  bool is_asked_in_vain(const http::exchange_report& report, const error& e);
  void decide(const http::attempt_outcome& outcome, const error& e);
  error untried(error e, http::stop_reason reason) const;
  void fail_or_investigate(error e);
  void report_attempt(const http::exchange_report& report, time_point now);
  error stopped_error() const;
  void tell_met(error& late) const;

  std::array<std::string_view, 4> secrets() const noexcept;

  const std::size_t verb_;
  ref<client_core> core_;
  call_id id_{};
  phase phase_{phase::idle};
  std::atomic<bool> stopped_{false};
  bool accepted_{false};
  bool admitted_to_line_{false};  ///< and the line waits to be told how the attempt ended
  int status_{0};                 ///< of the attempt's reply, 0 until there is one
  int refusals_{0};
  int damaged_{0};
  bool moved_{false};  ///< to where the service says that the bucket is
  /// Of an attempt's requests. The first one may lack its body; then either it is sent as a whole
  /// to the same place, or to where the reply leads. A HEAD that was refused is asked why.
  enum class leg : std::uint8_t { first, whole, redirected, question };
  leg leg_{leg::first};
  bool held_back_{false};  ///< the body
  std::optional<http::url> led_to_{};
  bool signed_{false};             ///< the attempt, with `credential_`
  std::uint64_t counted_sent_{0};  ///< of the attempt, in the client's totals already
  std::uint64_t counted_received_{0};
  http::retry_state retry_{};
  http::retry_decision next_step_{};  ///< while it is looked first
  time_point first_sent_{never};
  pace_line* line_{nullptr};
  time_point begun_{};  ///< the attempt
  time_point admitted_{};
  time_point deadline_{never};
  duration timeout_{0};
  timer_id timer_{timer_id::none};
  time_point signed_at_{};
  signer_wait credential_wait_{signer_wait::none};
  service::credential credential_{};
  std::optional<error> bad_{};
  std::optional<error> met_{};          ///< what the last attempt failed with that is made again
  std::optional<error> refusal_{};      ///< why the head or the body was not taken
  std::optional<error> unexplained_{};  ///< the refusal of a HEAD, while it is asked why
  bool asked_in_vain_{false};           ///< once
  reply_facts facts_{};
  collecting_sink body_;
  std::stop_token stop_token_{};
  detail::stop_watch on_stop_{};

  friend class pace_line;
  friend class client_core;
  call* next_{nullptr};
  call* previous_{nullptr};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/service/impl/call.ipp>
#include <dataflux/service/impl/call_outcome.ipp>
#include <dataflux/service/impl/client_core.ipp>
#include <dataflux/service/impl/pace_line.ipp>
#endif
