#pragma once

#include <dataflux/auth/detail/keys_reply.hpp>
#include <dataflux/auth/detail/sigv4.hpp>
#include <dataflux/auth/detail/subject_source.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/detail/percent.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

DATAFLUX_INLINE result<std::string> sign_aws_subject(const aws_subject_options& options,
                                                     const access_keys& keys,
                                                     const std::string& region, system_time now) {
  if (!is_region(region)) return error{errc::invalid_argument, "the region is none of AWS"};
  std::string where = options.verification_url;
  constexpr std::string_view place = "{region}";
  for (std::size_t at = where.find(place); at != std::string::npos; at = where.find(place)) {
    where.replace(at, place.size(), region);
  }
  auto url = http::parse_url(where);
  if (!url) return std::move(url).error();
  http::request request;
  request.method = http::method::post;
  request.origin = std::make_shared<const http::origin>(url->origin);
  request.target = url->target;
  signing_keys cache;
  auto good = sign_sigv4_sparsely(request, keys, {region, "sts"}, now, empty_payload, cache);
  if (!good) return std::move(good).error();
  codec::json_writer out;
  const auto field = [&out](std::string_view name, std::string_view value) {
    out.begin_object().key("key").string(name).key("value").string(value).end_object();
  };
  out.begin_object().key("headers").begin_array();
  field("Authorization", request.headers.find("Authorization").value_or(""));
  field("host", url->origin.authority());
  field("x-amz-date", request.headers.find("x-amz-date").value_or(""));
  if (!keys.session_token.empty()) field("x-amz-security-token", keys.session_token);
  field("x-goog-cloud-target-resource", options.audience);
  out.end_array().key("method").string("POST").key("url").string(where).end_object();
  std::string token;
  codec::append_percent_path(token, out.text());
  return token;
}

/// The flow of the keys, then, where nothing else says the region, that of the place.
class aws_subject_flow final : public token_flow {
 public:
  aws_subject_flow(const credentials_facts& facts, const aws_subject_options& options)
      : facts_(facts), options_(options), flow_(options.keys->start()) {}

  flow_step resume(flow_event event, const flow_moment& moment) override {
    flow_step step = flow_->resume(std::move(event), moment);
    auto* const got = std::get_if<access_keys>(&step);
    if (got == nullptr) {
      auto* const why = std::get_if<error>(&step);
      return why == nullptr ? std::move(step) : named(std::move(*why));
    }
    if (std::exchange(of_place_, false)) {
      keys_.region = std::move(got->region);
    } else {
      keys_ = std::move(*got);
    }
    const std::string& region = options_.region.empty() ? keys_.region : options_.region;
    if (!region.empty()) return sign(region, moment);
    if (options_.place == nullptr || asked_place_) {
      return named({errc::unauthenticated, "nothing says the region: set AWS_REGION"});
    }
    of_place_ = asked_place_ = true;
    flow_ = options_.place->start();
    return flow_->resume(std::monostate{}, moment);
  }

 private:
  flow_step named(error why) const {
    return why.with_message(facts_.describe() + ": " + why.message());
  }
  flow_step sign(const std::string& region, const flow_moment& moment) const {
    auto token = sign_aws_subject(options_, keys_, region, moment.now);
    if (!token) return named(std::move(token).error());
    return access_token{std::move(*token), system_time::max()};
  }

  const credentials_facts& facts_;
  const aws_subject_options& options_;
  std::unique_ptr<token_flow> flow_;
  access_keys keys_{};
  bool of_place_{false};
  bool asked_place_{false};
};

class aws_subject final : public subject_source {
 public:
  aws_subject(credentials_facts facts, aws_subject_options options)
      : subject_source(std::move(facts)), options_(std::move(options)) {}
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(new aws_subject_flow(this->facts(), options_));
  }

 private:
  const aws_subject_options options_;
};

DATAFLUX_INLINE subject_source_ptr make_aws_subject(credentials_facts facts,
                                                    aws_subject_options options) {
  return std::make_shared<aws_subject>(std::move(facts), std::move(options));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
