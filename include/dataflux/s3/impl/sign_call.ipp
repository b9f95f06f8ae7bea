#pragma once

#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/exec/detail/fork.hpp>
#include <dataflux/s3/detail/dialect.hpp>
#include <dataflux/s3/detail/keys_signer.hpp>
#include <dataflux/s3/detail/sign_call.hpp>
#include <dataflux/s3/detail/target.hpp>
#include <dataflux/store/detail/sign_terms.hpp>
#include <dataflux/store/sign_requests.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// What no URL of S3 can have.
inline result<void> check_s3_signing(const sign_url_request& r) {
  std::string_view of_google;
  if (r.generation != 0) of_google = "generation";
  if (r.style != url_style::path) of_google = "style";
  if (!r.host.empty()) of_google = "host";
  if (!r.scheme.empty()) of_google = "scheme";
  if (!r.account.empty()) of_google = "account";
  if (!r.key.id.empty()) of_google = "key";
  if (of_google.empty()) return validate(r);
  return error{errc::invalid_argument, std::string{of_google}.append(
                                           ": is of Google's URLs alone; the client of S3 has its "
                                           "own endpoint, addressing and keys")};
}

/// The request that the URL stands for.
inline result<http::request> request_to_sign(const dialect& how, const sign_url_request& r) {
  const auto place = how.context().places.find(r.bucket);
  if (!place) return place.error();
  http::request out;
  out.method = *signed_method(r.method);
  out.origin = (*place)->origin;
  target_writer target{out};
  target.path((*place)->base, r.object);
  for (const auto& [name, value] : r.query) {
    std::string encoded;
    codec::append_percent(encoded, name);
    target.text(encoded, value);
  }
  if (how.how().requester_pays) target.raw("x-amz-request-payer=requester");
  for (const auto& [name, value] : r.headers) out.headers.add(name, value);
  if (out.headers.valid()) return out;
  return error{errc::invalid_argument, "headers: one of them is none that can be sent"};
}

class sign_call final : public std::enable_shared_from_this<sign_call> {
 public:
  using completion = object_store::completion<signed_url>;

  sign_call(const ref<service::client_core>& core, sign_url_request request, completion done)
      : core_(core),
        request_(std::move(request)),
        done_(std::move(done)),
        strand_(core->transport().next_executor()) {}

  void start() {
    if (core_->forked()) return end(forked_error("client"));
    if (auto good = check_s3_signing(request_); !good) return end_later(std::move(good).error());
    const time_point now = strand_.now();
    if (const auto ready = signer().try_get(now)) return end_later(sign(*ready));
    signer().await(strand_,
                   [self = shared_from_this()](const result<service::credential_view>& given) {
                     self->end(given ? self->sign(*given) : result<signed_url>{given.error()});
                   });
  }

 private:
  keys_signer& signer() const noexcept { return static_cast<keys_signer&>(*core_->signer); }

  result<signed_url> sign(const service::credential_view& with) {
    if (with.secret.empty()) {
      return error{errc::failed_precondition,
                   "there are no keys to sign with: requests of this "
                   "client are anonymous"};
    }
    const dialect& how = dialect_of(*core_);
    const auto request = request_to_sign(how, request_);
    if (!request) return request.error();
    return signer().presign(*request, how.region_of(request_.bucket), signed_life(request_.life),
                            strand_.now());
  }

  void end_later(result<signed_url> outcome) {
    strand_.post([self = shared_from_this(), outcome = std::move(outcome)]() mutable {
      self->end(std::move(outcome));
    });
  }

  void end(result<signed_url> outcome) {
    if (!outcome) {
      error why = std::move(outcome).error();
      if (why.verb().empty()) why.with_verb("sign_url");
      why.with_scheme("s3").with_bucket(request_.bucket).with_object(request_.object);
      outcome = std::move(why);
    }
    std::exchange(done_, {})(std::move(outcome));
  }

  const ref<service::client_core> core_;
  const sign_url_request request_;
  completion done_;
  scheduler& strand_;
};

DATAFLUX_INLINE void start_signing(const ref<service::client_core>& core,
                                   const sign_url_request& request,
                                   object_store::completion<signed_url> done) {
  std::make_shared<sign_call>(core, request, std::move(done))->start();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
