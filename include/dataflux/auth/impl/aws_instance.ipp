#pragma once

#include <dataflux/auth/detail/aws_sources.hpp>
#include <dataflux/auth/detail/keys_flow.hpp>
#include <dataflux/auth/detail/keys_reply.hpp>
#include <dataflux/http/detail/characters.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline constexpr int instance_tries = 3;
inline constexpr std::chrono::seconds instance_timeout{1};
inline constexpr std::size_t longest_role_name = 64;

class instance_keys final : public credentials {
 public:
  instance_keys(credentials_facts facts, instance_options options)
      : credentials(std::move(facts)),
        options_(std::move(options)),
        service_(std::make_shared<const http::origin>(options_.service)),
        present_(options_.expected) {}
  DATAFLUX_INLINE std::unique_ptr<token_flow> start() const override;

 private:
  friend class instance_flow;
  const instance_options options_;
  const std::shared_ptr<const http::origin> service_;
  /// What flows have learned: it answers; it answers without a session token only.
  mutable std::atomic<bool> present_;
  mutable std::atomic<bool> tokenless_{false};
};

/// Asks for a session token, for the name of the role, for its keys, and for the region if that is
/// wanted. Where the network drops replies with tokens, as between a container and the service, it
/// goes on without one.
class instance_flow final : public keys_flow {
 public:
  explicit instance_flow(const instance_keys& owner)
      : keys_flow(owner.facts(), owner.present_ && !owner.tokenless_ ? instance_tries : 1),
        owner_(owner) {}

 private:
  enum class phase { token, role, keys, region };

  flow_step ask(const flow_moment&) override {
    http_step step;
    step.request.origin = owner_.service_;
    step.timeout = instance_timeout;
    if (phase_ == phase::token) {
      step.request.method = http::method::put;
      step.request.target = "/latest/api/token";
      step.request.headers.add("x-aws-ec2-metadata-token-ttl-seconds", "21600");
      return step;
    }
    step.request.target = owner_.options_.roles_target;
    if (phase_ == phase::keys) step.request.target += role_;
    if (phase_ == phase::region) step.request.target = owner_.options_.region_target;
    if (!token_.empty()) step.request.headers.add("x-aws-ec2-metadata-token", token_);
    return step;
  }

  flow_step go_to(phase next, const flow_moment& moment) {
    phase_ = next;
    allow(owner_.present_ ? instance_tries : 1);
    return ask(moment);
  }

  flow_step unanswered(error why, const flow_moment& moment) override {
    if (phase_ == phase::region && !owner_.options_.region_alone) return std::move(keys_);
    if (phase_ != phase::token)
      return owner_.present_ ? again_or(std::move(why), moment) : absent();
    if (owner_.present_ && !owner_.tokenless_) {
      flow_step step = again_or(std::move(why), moment);
      if (owner_.options_.tokens_only || std::holds_alternative<wait_step>(step)) return step;
    }
    return without_token(moment);
  }

  flow_step absent() const {
    const std::string& said = owner_.options_.absent_message;
    return error{errc::unauthenticated, said.empty()
                                            ? "the metadata service at " +
                                                  owner_.service_->authority() + " does not answer"
                                            : said};
  }

  flow_step without_token(const flow_moment& moment) {
    if (owner_.options_.tokens_only) {
      if (!owner_.present_) return absent();
      return end(failure(errc::unauthenticated,
                         "the metadata service gives no session token, and without one it is not "
                         "asked (AWS_EC2_METADATA_V1_DISABLED); in a container, let the instance's "
                         "hop limit be 2"));
    }
    token_.clear();
    return go_to(behind_token(), moment);
  }

  flow_step replied(const http_reply& reply, const flow_moment& moment) override {
    if (phase_ == phase::token) return after_token(reply, moment);
    if (phase_ == phase::region) return after_region(reply, moment);
    if (reply.status == 401 && !std::exchange(renewed_, true)) {
      return go_to(phase::token, moment);  // the session has ended
    }
    if (reply.status == 404 && phase_ == phase::role) {
      owner_.present_ = true;
      return end(failure(errc::unauthenticated,
                         "this machine has no role: give its instance profile one"));
    }
    const std::string server = "the metadata service at " + owner_.service_->authority();
    if (reply.status != 200) return again_or(refused_by(server, reply.status), moment);
    if (phase_ == phase::role) return after_role(reply, moment);
    return after_keys(reply, moment);
  }

  flow_step after_token(const http_reply& reply, const flow_moment& moment) {
    constexpr std::size_t longest = 1024;
    if (reply.status == 403 || reply.status == 404 || reply.status == 405) {
      return without_token(moment);
    }
    const std::string server = "the metadata service at " + owner_.service_->authority();
    if (reply.status != 200) return again_or(refused_by(server, reply.status), moment);
    const bool good = !reply.body.empty() && is_key_text(reply.body, longest);
    if (!good) return end(failure(errc::internal, server + " gave a session token that is none"));
    owner_.present_ = true;
    owner_.tokenless_ = false;
    token_ = reply.body;
    return go_to(behind_token(), moment);
  }

  flow_step after_role(const http_reply& reply, const flow_moment& moment) {
    role_ = reply.body.substr(0, reply.body.find_first_of("\r\n"));
    const bool good = !role_.empty() && role_.size() <= longest_role_name &&
                      role_.find_first_not_of(
                          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                          "+=,.@_-") == std::string::npos;
    if (!good) {
      return end(failure(errc::internal, "the metadata service gave a role's name that is none"));
    }
    return go_to(phase::keys, moment);
  }

  flow_step after_keys(const http_reply& reply, const flow_moment& moment) {
    const auto wrong = [this](errc code, std::string_view what) {
      return end(failure(code, std::string{"the keys of the metadata service: "}.append(what)));
    };
    if (reply.body.size() > longest_keys_reply) {
      return wrong(errc::internal, "the reply is longer than 64 KiB");
    }
    auto document = codec::json_document::parse(as_bytes(reply.body));
    if (!document) return wrong(errc::internal, "the reply is not valid JSON");
    if (document->root().find("Code").text().value_or("") != "Success") {
      return wrong(errc::unauthenticated,
                   "it has none for role \"" + role_ + "\": look at the instance profile");
    }
    auto keys = read_keys(document->root(), {}, answer_time::of(reply, moment.now));
    if (!keys) return wrong(errc::internal, keys.error().message());
    if (!document->root().find("Expiration").text()) {
      return wrong(errc::internal, "they have no end");
    }
    owner_.present_ = true;
    if (token_.empty()) owner_.tokenless_ = true;
    if (keys->expires <= moment.now) {
      // 15 minutes, and 2 to 10 by chance.
      const std::chrono::duration<double> more{120 + 480 * moment.random};
      keys->expires = moment.now + std::chrono::minutes(15) +
                      std::chrono::duration_cast<std::chrono::seconds>(more);
    }
    keys_ = std::move(*keys);
    if (!owner_.options_.with_region) return std::move(keys_);
    return go_to(phase::region, moment);
  }

  flow_step after_region(const http_reply& reply, const flow_moment& moment) {
    std::string_view region = reply.body;
    if (owner_.options_.region_is_zone && !region.empty()) region.remove_suffix(1);
    const bool good = reply.status == 200 && is_region(region);
    if (good) keys_.region = region;
    if (good || !owner_.options_.region_alone) return std::move(keys_);
    const std::string server = "the metadata service at " + owner_.service_->authority();
    if (reply.status != 200) return again_or(refused_by(server, reply.status, "region"), moment);
    return end(failure(errc::internal, server + " gave a region that is none"));
  }

  phase behind_token() const noexcept {
    return owner_.options_.region_alone ? phase::region : phase::role;
  }

  const instance_keys& owner_;
  phase phase_{phase::token};
  std::string token_{};
  std::string role_{};
  access_keys keys_{};
  bool renewed_{false};
};

inline std::unique_ptr<token_flow> instance_keys::start() const {
  return std::unique_ptr<token_flow>(new instance_flow(*this));
}

DATAFLUX_INLINE credentials_ptr make_instance_keys(credentials_facts facts,
                                                   instance_options options) {
  return std::make_shared<instance_keys>(std::move(facts), std::move(options));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
