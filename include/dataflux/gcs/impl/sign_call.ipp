#pragma once

#include <dataflux/auth/detail/signing_identity.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/exec/detail/call_clock.hpp>
#include <dataflux/exec/detail/fork.hpp>
#include <dataflux/gcs/detail/dialect.hpp>
#include <dataflux/gcs/detail/sign_call.hpp>
#include <dataflux/gcs/detail/sign_verbs.hpp>
#include <dataflux/gcs/detail/url_signing.hpp>
#include <dataflux/gcs/impl/dialect.ipp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// One request for a signature. Kept alive by whatever will continue it.
template <class Request>
class sign_call final : public std::enable_shared_from_this<sign_call<Request>> {
 public:
  using value = typename Request::value;
  using completion = object_store::completion<value>;

  sign_call(const ref<service::client_core>& core, const Request& request, completion done)
      : core_(core),
        request_(request),
        done_(std::move(done)),
        clock_(core->transport().next_executor(), request.limits) {}

  void start() {
    if (auto bad = refusal()) return end_later(*std::move(bad));
    if (!request_.key.id.empty()) return sign_by_key();
    const dialect& how = static_cast<const dialect&>(*core_->dialect);
    if (how.signs() != nullptr) who_ = how.signs()->signs_as();
    const bool own = request_.account.empty() || request_.account == who_.account;
    if (own && who_.key != nullptr) return sign_by_account();
    if (!request_.account.empty()) who_.account = request_.account;
    if (!who_.account.empty()) return ask_iam();
    if (who_.metadata != nullptr) return ask_machine();
    end_later(nobody_signs(how.signs()));
  }

 private:
  using work = signing_work<Request>;
  static constexpr std::string_view verb =
      std::is_same_v<Request, sign_url_request> ? "sign_url" : "sign_form";

  std::optional<error> refusal() const {
    if (auto good = validate(request_); !good) return std::move(good).error();
    if (auto bad = core_->dialect->refuse_bucket(request_.bucket)) return bad;
    if (request_.object.empty()) return std::nullopt;
    return core_->dialect->refuse_object(request_.object);
  }

  static error nobody_signs(const credentials* who) {
    std::string text =
        who == nullptr || who->anonymous() ? "there are no credentials" : who->facts().describe();
    return {errc::failed_precondition,
            text.append(": nothing to sign with. Use a service account's key, name an `account` "
                        "that IAM may sign for, or give an HMAC key")};
  }

  result<work> make(std::string_view id, bool hmac) {
    const auto& where = static_cast<const dialect&>(*core_->dialect).endpoint();
    return work::make(where, request_, signer_of{id, hmac}, std::chrono::system_clock::now());
  }

  void sign_by_key() {
    const auto draft = make(request_.key.id, true);
    if (!draft) return end_later(draft.error());
    const auto signature = auth::sign_by_hmac(draft->draft(), request_.key.secret, draft->terms());
    if (!signature) return end_later(signature.error());
    end_later(draft->finish(*signature));
  }

  void sign_by_account() {
    const auto draft = make(who_.account, false);
    if (!draft) return end_later(draft.error());
    const auto signature = who_.key->sign_sha256(draft->draft().to_sign);
    if (!signature) return end_later(signature.error());
    end_later(draft->finish(*signature));
  }

  void ask_machine() {
    verb_call<machine_account_verb>::start(
        core_, {who_.metadata, who_.alias, clock_.limits(request_.limits.stop)},
        [self = this->shared_from_this()](result<std::string> account) mutable {
          self->step([&] {
            if (!account) return self->end(std::move(account).error());
            self->who_.account = *std::move(account);
            self->ask_iam();
          });
        },
        &clock_.strand());
  }

  void ask_iam() {
    auto draft = make(who_.account, false);
    if (!draft) return end_later(std::move(draft).error());
    draft_.emplace(*std::move(draft));
    verb_call<sign_blob_verb>::start(
        core_, {who_.account, draft_->draft().to_sign, clock_.limits(request_.limits.stop)},
        [self = this->shared_from_this()](result<std::string> signature) mutable {
          self->step([&] {
            if (!signature) return self->end(advised(std::move(signature).error()));
            self->end(self->draft_->finish(*signature));
          });
        },
        &clock_.strand());
  }

  static error advised(error why) {
    if (why.code() != errc::permission_denied) return why;
    return std::move(why.with_message(
        why.message() +
        "; the caller needs iam.serviceAccounts.signBlob on the account (role Service Account "
        "Token Creator, also for an account on itself), and its token the scope cloud-platform"));
  }

  template <class Step>
  void step(Step&& what) noexcept {
    detail::within_memory(static_cast<Step&&>(what), [this] { end(detail::short_of_memory()); });
  }

  void end_later(result<value> outcome) {
    if (core_->forked()) return end(forked_error("client"));
    clock_.strand().post([self = this->shared_from_this(), outcome = std::move(outcome)]() mutable {
      self->end(std::move(outcome));
    });
  }

  void end(result<value> outcome) {
    if (!outcome) {
      detail::within_memory([&] {
        error why = std::move(outcome).error();
        if (why.verb().empty()) why.with_verb(verb);
        why.with_scheme("gs").with_bucket(request_.bucket).with_object(request_.object);
        outcome = std::move(why);
      });
    }
    if (done_) std::exchange(done_, {})(std::move(outcome));
  }

  const ref<service::client_core> core_;
  const Request request_;
  completion done_;
  const call_clock clock_;
  auth::signing_identity who_{};
  std::optional<work> draft_{};
};

DATAFLUX_INLINE void start_signing(const ref<service::client_core>& core,
                                   const sign_url_request& request,
                                   object_store::completion<signed_url> done) {
  std::make_shared<sign_call<sign_url_request>>(core, request, std::move(done))->start();
}

DATAFLUX_INLINE void start_signing(const ref<service::client_core>& core,
                                   const sign_form_request& request,
                                   object_store::completion<signed_form> done) {
  std::make_shared<sign_call<sign_form_request>>(core, request, std::move(done))->start();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
