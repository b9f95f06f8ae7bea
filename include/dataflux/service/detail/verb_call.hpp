#pragma once

#include <dataflux/service/detail/looking_call.hpp>
#include <dataflux/service/detail/one_key.hpp>
#include <dataflux/store/detail/validate.hpp>
#include <dataflux/store/object_store.hpp>

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// A call whose reply is read as a whole: every verb of a service but the read.
template <class Dialect, class Verb>
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
    made->begin_looks(is_last_writer(rule, made->request_));
    made->launch(made->request_.limits, made->prepare());
  }

 private:
  static constexpr const repeat_rule& rule = Verb::repeat;
  static_assert(requires { &request_type::last_writer_wins; } ==
                (rule.last_writer.older == look_verdict::again));

  friend class call;
  explicit verb_call(const buffer_pool& buffers)
      : looking_call(buffers, Dialect::template number_of<Verb>) {}
  decltype(auto) context() noexcept {
    return static_cast<const Dialect&>(*core().dialect).context();
  }
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
    if constexpr (requires { Verb::check(context(), request_); }) {
      if (auto good = Verb::check(context(), request_); !good) return good;
    }
    return check_one_key(context(), request_);
  }

  const verb_info& info() const noexcept override { return Verb::info; }
  call_identity identity() const noexcept override { return Verb::identity(request_); }
  bool repeatable() const noexcept override {
    bool continued = false;
    if constexpr (requires { Verb::continued(state_); }) continued = Verb::continued(state_);
    return continued || may_be_repeated(rule, request_);
  }
  void build() override { Verb::build(context(), request_, state_, request); }
  bool accepts(int status) const noexcept override {
    bool besides = false;
    if constexpr (requires { Verb::accepts(status); }) besides = Verb::accepts(status);
    return besides || call::accepts(status);
  }
  std::array<std::string_view, 2> own_secrets() const noexcept override {
    if constexpr (requires { Verb::secrets(request_); }) return Verb::secrets(request_);
    return {};
  }

  duration pause() const noexcept override {
    if constexpr (requires { Verb::pause(state_); }) return Verb::pause(state_);
    return {};
  }
  std::string_view body_digest() const noexcept override {
    if constexpr (requires { Verb::body_digest(state_); }) return Verb::body_digest(state_);
    return {};
  }

  result<byte_sink*> open_body(const http::reply_head& head) override {
    if constexpr (requires { Verb::read_head(request, head, state_); }) {
      Verb::read_head(request, head, state_);
    }
    std::size_t most = Verb::info.reply_limit;
    if constexpr (requires { Verb::reply_limit(request_); }) most = Verb::reply_limit(request_);
    reply_body().reset(most, collecting_sink::excess::refuse);
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
      if constexpr (!std::is_same_v<parsed_type, result<void>>) {
        if (!*parsed) return went_on();
        if constexpr (!std::is_void_v<value>) outcome_.emplace(std::move(**parsed));
      }
    }
    if constexpr (requires { Verb::checksum_by_look; }) {
      if (!(**outcome_).crc32c)
        return error(errc::data_loss, "the reply carries no checksum of the object");
    }
    if constexpr (std::is_same_v<value, std::vector<kept_object>>) {
      for (kept_object& each : **outcome_) keep_secret(each.why);
    }
    if constexpr (!std::is_void_v<value>) note_past(object_in(**outcome_));
    return progress::done;
  }

  progress went_on() const {
    bool advanced = true;
    if constexpr (requires { Verb::advanced(state_); }) advanced = Verb::advanced(state_);
    return advanced ? progress::more : progress::again;
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

  bool adds_up() const noexcept override {
    if constexpr (requires { Verb::adds_up(request_); }) return Verb::adds_up(request_);
    return false;
  }

  std::optional<stat_request> witness_of(bool found) const override {
    if constexpr (requires { Verb::witness(request_); }) {
      if (found || (requires { Verb::moves; } && last_wins())) return Verb::witness(request_);
    }
    return std::nullopt;
  }

  look_verdict judge(const sighting& seen) const override {
    std::optional<object_age> age;
    if (seen.object) age = age_of(*seen.object);
    // What equals it and was made before is not this call's.
    constexpr bool by_equality = requires { Verb::proof_is_equality; };
    const bool earlier = by_equality && age == object_age::older;
    if (seen.object && !earlier && is_ours(seen)) return look_verdict::done;
    if constexpr (requires { Verb::moves; }) {
      if (request_.last_writer_wins && seen.source) return judge_move(seen);
    }
    return last_wins() ? verdict_of(rule.last_writer, age) : look_verdict::stands;
  }

  bool is_ours(const sighting& seen) const {
    if constexpr (requires { Verb::witness(request_); }) {
      return seen.source && Verb::is_ours(request_, state_, *seen.object, *seen.source);
    } else if constexpr (rule.looks) {
      return Verb::is_ours(request_, state_, *seen.object);
    } else {
      return false;
    }
  }

  /// Of the content, or for a change of metadata of that.
  object_age age_of(const object_metadata& found) const noexcept {
    constexpr bool of_metadata = requires { Verb::keeps_content; };
    return looking_call::age_of(found, of_metadata ? found.updated : found.created);
  }

  /// Under a condition of the caller's, too: the source tells, where nothing else does.
  look_verdict judge_move(const sighting& seen) const {
    const auto& source = *seen.source;
    const bool gone = Verb::source_is_gone(request_, source);
    if (!source && !gone) return look_verdict::stands;
    std::optional<object_age> from;
    std::optional<object_age> to;
    if (!gone) from = Verb::pins(request_) ? object_age::older : age_of(*source);
    if (seen.object) to = age_of(*seen.object);
    const look_verdict verdict = verdict_of_move(rule.last_writer, to, from);
    if (verdict == look_verdict::done && !Verb::may_be_ours(request_, *seen.object)) {
      return last_wins() ? look_verdict::theirs : look_verdict::stands;
    }
    const bool told = verdict == look_verdict::done || verdict == look_verdict::unclear;
    return told || last_wins() ? verdict : look_verdict::stands;
  }

  bool pin(const sighting& seen) override {
    if constexpr (rule.last_writer.older == look_verdict::again) {
      return Verb::pin(request_, seen.object ? &*seen.object : nullptr,
                       seen.source && *seen.source ? &**seen.source : nullptr);
    }
    return false;
  }

  void take_found(sighting seen) override {
    if constexpr (requires { Verb::resolved(*std::move(seen.object)); }) {
      outcome_.emplace(Verb::resolved(*std::move(seen.object)));
    } else if constexpr (std::is_same_v<value, object_metadata>) {
      outcome_.emplace(*std::move(seen.object));
    }
  }

  void conclude(std::optional<error> failure) noexcept override {
    auto done = std::exchange(done_, {});
    request_.limits = {};  // whose stop is the caller's
    detail::within_memory([&] {
      if (failure) {
        done(std::move(*failure));
      } else if constexpr (std::is_void_v<value>) {
        done(result<void>{});
      } else {
        done.pass(std::move(*outcome_));
      }
    });
    outcome_.reset();
  }

  using stored_value = std::conditional_t<std::is_void_v<value>, no_state, value>;
  request_type request_{};
  typename Verb::state state_{};
  completion done_{};
  std::optional<result<stored_value>> outcome_{};  ///< a value, once it is known
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
