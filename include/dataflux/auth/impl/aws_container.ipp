#pragma once

#include <dataflux/auth/detail/aws_sources.hpp>
#include <dataflux/auth/detail/keys_flow.hpp>
#include <dataflux/auth/detail/keys_reply.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline constexpr int container_tries = 3;
inline constexpr std::chrono::seconds container_timeout{2};

/// What goes into a header field: a file's last line end is no part of it.
inline std::string_view without_line_end(std::string_view text) noexcept {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

class container_flow final : public keys_flow {
 public:
  container_flow(const credentials_facts& facts, const container_options& options,
                 const environment& machine)
      : keys_flow(facts, container_tries), options_(options), machine_(machine) {}

 private:
  flow_step ask(const flow_moment& moment) override {
    if (options_.token_file.empty()) return send(options_.token);
    static_cast<void>(moment);
    return blocking_step{
        [path = options_.token_file, &machine = machine_] { return machine.read_file(path); }};
  }

  flow_step read(result<std::string>&& text, const flow_moment& moment) override {
    if (text) return send(without_line_end(*text));
    // It is missing for a moment while it is replaced.
    error why =
        failure(errc::unauthenticated,
                "cannot read AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE " + text.error().message());
    return again_or(why.with_retryable(text.error().code() == errc::not_found), moment);
  }

  flow_step send(std::string_view token) {
    http_step step;
    step.request.origin = std::make_shared<const http::origin>(options_.endpoint.origin);
    step.request.target = options_.endpoint.target;
    step.request.headers.add("Accept", "application/json");
    if (!token.empty()) step.request.headers.add("Authorization", token);
    if (!step.request.headers.valid()) {
      return end(failure(errc::invalid_argument,
                         "the authorization token has a line break or another control character"));
    }
    step.timeout = container_timeout;
    return step;
  }

  flow_step replied(const http_reply& reply, const flow_moment& moment) override {
    const std::string server = "the container's endpoint " + options_.endpoint.origin.authority();
    if (reply.status != 200) return again_or(refused_by(server, reply.status), moment);
    if (reply.body.size() > longest_keys_reply) {
      return end(failure(errc::internal, server + ": its reply is longer than 64 KiB"));
    }
    auto document = codec::json_document::parse(as_bytes(reply.body));
    if (!document) return end(failure(errc::internal, server + ": its reply is not valid JSON"));
    auto keys = read_keys(document->root(), {}, answer_time::of(reply, moment.now));
    if (!keys) return end(failure(errc::internal, server + ": " + keys.error().message()));
    if (keys->expires > moment.now) return std::move(*keys);
    error late = failure(errc::unavailable, server + " gave keys that had expired");
    return again_or(late.with_retryable(true), moment);
  }

  const container_options& options_;
  const environment& machine_;
};

class container_keys final : public credentials {
 public:
  container_keys(credentials_facts facts, container_options options, const environment& machine)
      : credentials(std::move(facts)), options_(std::move(options)), machine_(machine) {}
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(new container_flow(this->facts(), options_, machine_));
  }

 private:
  container_options options_;
  const environment& machine_;
};

DATAFLUX_INLINE credentials_ptr make_container_keys(credentials_facts facts,
                                                    container_options options,
                                                    const environment& machine) {
  // Its address is of this machine's network alone.
  if (!options.endpoint.origin.tls) options.endpoint.origin.direct = true;
  return std::make_shared<container_keys>(std::move(facts), std::move(options), machine);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
