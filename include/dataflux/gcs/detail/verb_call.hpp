#pragma once

#include <dataflux/gcs/detail/call.hpp>
#include <dataflux/gcs/detail/object_verbs.hpp>
#include <dataflux/gcs/detail/repeat_rules.hpp>
#include <dataflux/store/detail/validate.hpp>
#include <dataflux/store/object_store.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::gcs::detail {

/// What `make` gives, made where it is converted: an object_metadata costs 400 instructions a move.
template <class Make>
struct made_by {
  const Make& make;
  operator decltype(std::declval<const Make&>()())() const { return make(); }
};

/// What does not depend on the verb, so that it is compiled once: how a call whose reply is read as
/// a whole finds out what became of it.
class looking_call : public call {
 public:
  using call::call;

 protected:
  /// What an error means to a call of that row. True if finish() will be called later.
  DATAFLUX_INLINE bool look(const repeat_rule& rule, bool no_value, bool has_value, const error& e,
                            bool outcome_unknown);
  /// The object is there: is it the one that this call was to make? end_look() or finish() is next.
  virtual void verify(error e, object_metadata found) = 0;
  /// The same with the answer to another stat.
  virtual void verify(error e, object_metadata found, const result<object_metadata>& source) = 0;
  DATAFLUX_INLINE void ask_witness(stat_request about, error e, object_metadata found);

 private:
  DATAFLUX_INLINE void stat(const error& e);
  DATAFLUX_INLINE void remove_damaged(const error& e);
};

/// A call whose reply is read as a whole: every verb but the read.
template <class Verb>
class verb_call final : public looking_call {
 public:
  using value = typename Verb::value;
  using request_type = typename Verb::request;
  using completion = object_store::completion<value>;

  /// A side call of another call runs on that one's executor, `strand`.
  static void start(ref<client_core> core, const request_type& what, completion done,
                    scheduler* strand = nullptr) {
    const ref<verb_call> made = take<verb_call>(std::move(core), Verb::info);
    made->request_ = what;
    made->done_ = std::move(done);
    made->executor = strand;
    made->launch(made->request_.limits, made->prepare());
  }

 private:
  static constexpr repeat_rule rule = repeat_rule_of<Verb>;

  friend class call;
  explicit verb_call(const buffer_pool& buffers) : looking_call(buffers, verb_number<Verb>) {}
  bool recycled() const noexcept override {
    return requires { Verb::recycled; };
  }

  /// Why the call must fail before any request.
  std::optional<error> prepare() {
    if (auto valid = check(); !valid) return std::move(valid).error();
    if constexpr (requires { Verb::prepare(request_, id(), state_); }) {
      Verb::prepare(request_, id(), state_);
    } else {
      auto prepared = Verb::prepare(request_, id());
      if (!prepared) return std::move(prepared).error();
      state_ = std::move(*prepared);
    }
    return std::nullopt;
  }

  result<void> check() {
    if (auto valid = validate(request_); !valid) return valid;
    if constexpr (requires { Verb::check(core().context(), request_); }) {
      return Verb::check(core().context(), request_);
    } else {
      return {};
    }
  }

  const verb_info& info() const noexcept override { return Verb::info; }
  call_identity identity() const noexcept override { return Verb::identity(request_); }
  bool repeatable() const noexcept override {
    if constexpr (requires { Verb::continued(state_); }) {
      if (Verb::continued(state_)) return true;
    }
    return may_be_repeated(rule, request_);
  }
  void build() override { Verb::build(core().context(), request_, state_, request); }
  bool accepts(int status) const noexcept override {
    if constexpr (requires { Verb::accepts(status); }) {
      if (Verb::accepts(status)) return true;
    }
    return call::accepts(status);
  }
  std::string_view secret() const noexcept override {
    if constexpr (requires { Verb::secret(request_); }) {
      return Verb::secret(request_);
    } else {
      return {};
    }
  }

  result<byte_sink*> open_body(const http::reply_head& head) override {
    if constexpr (requires { Verb::read_head(request, head, state_); }) {
      Verb::read_head(request, head, state_);
    }
    reply_body().reset(Verb::info.reply_limit, collecting_sink::excess::refuse);
    return &reply_body();
  }

  result<progress> take_reply() override {
    const auto parse = [this] { return Verb::parse(request_, state_, reply()); };
    using parsed_type = decltype(parse());
    if constexpr (std::is_same_v<parsed_type, result<stored_value>>) {
      outcome_.emplace(made_by<decltype(parse)>{parse});
      if (!*outcome_) {
        error e = std::move(*outcome_).error();
        outcome_.reset();
        return e;
      }
    } else {
      auto parsed = parse();
      if (!parsed) return std::move(parsed).error();
      if constexpr (!std::is_void_v<value>) {
        if (!*parsed) return went_on();
        outcome_.emplace(std::move(**parsed));
      }
    }
    if constexpr (requires { Verb::checksum_by_look; }) {
      if (!(**outcome_).crc32c)
        return error(errc::data_loss, "the reply carries no checksum of the object");
    }
    return progress::done;
  }

  progress went_on() const {
    if constexpr (requires { Verb::advanced(state_); }) {
      if (!Verb::advanced(state_)) return progress::again;
    }
    return progress::more;
  }

  bool damage_is_repeated() const noexcept override {
    return requires { Verb::damage_is_repeated; };
  }

  result<void> prepare_retry() override {
    if constexpr (requires { Verb::before_retry(state_); }) Verb::before_retry(state_);
    return {};
  }

  bool investigate(const error& e, bool outcome_unknown) override {
    return look(rule, std::is_void_v<value>, outcome_.has_value(), e, outcome_unknown);
  }

  void verify(error e, object_metadata found) override {
    if constexpr (requires { Verb::witness(request_); }) {
      ask_witness(Verb::witness(request_), std::move(e), std::move(found));
    } else if constexpr (rule.looks) {
      const bool ours = Verb::is_ours(request_, state_, found);
      end_look(ours, std::move(e), std::move(found));
    }
  }

  void verify(error e, object_metadata found, const result<object_metadata>& source) override {
    if constexpr (requires { Verb::witness(request_); }) {
      const bool ours = Verb::is_ours(request_, state_, found, source);
      end_look(ours, std::move(e), std::move(found));
    }
  }

  /// Success if the object is there as this call was to make it; otherwise the error that led here.
  void end_look(bool ours, error e, object_metadata found) {
    if (!ours) return finish(std::move(e));
    if constexpr (requires { Verb::resolved(std::move(found)); }) {
      outcome_.emplace(Verb::resolved(std::move(found)));
    } else {
      outcome_.emplace(std::move(found));
    }
    finish(std::nullopt);
  }

  void conclude(std::optional<error> failure) noexcept override {
    auto done = std::exchange(done_, {});
    request_.limits = {};  // whose stop is the caller's
    if (failure) {
      done(std::move(*failure));
    } else if constexpr (std::is_void_v<value>) {
      done(result<void>{});
    } else {
      done.pass(std::move(*outcome_));
    }
    outcome_.reset();
  }

  using stored_value = std::conditional_t<std::is_void_v<value>, no_state, value>;
  request_type request_{};
  typename Verb::state state_{};
  completion done_{};
  std::optional<result<stored_value>> outcome_{};  ///< a value, once it is known
};

}  // namespace dataflux::inline DATAFLUX_ABI::gcs::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/verb_call.ipp>
#endif
