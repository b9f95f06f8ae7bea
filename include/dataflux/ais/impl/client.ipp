#pragma once

#include <dataflux/ais/client.hpp>
#include <dataflux/ais/detail/dialect.hpp>
#include <dataflux/ais/detail/verbs.hpp>
#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/detail/or_default.hpp>
#include <dataflux/service/detail/bearer_signer.hpp>
#include <dataflux/service/detail/client_core.hpp>
#include <dataflux/service/detail/verb_of.hpp>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

using dataflux::ais::client_options;

/// Holds client::begin() of each request, so that the compiled library has them.
template <class... Requests>
struct compiled_verbs<detail::verb_list<Requests...>> {
  static auto all() noexcept { return std::make_tuple(&dataflux::ais::client::begin<Requests>...); }
};

inline std::optional<std::string> ais_variable(const char* name) {
  return auth::set_variable(auth::process_environment(), name);
}

/// As the service calls it; empty for a name that is none.
inline std::string_view provider_of(std::string_view name) noexcept {
  if (name.empty() || name == "ais") return "ais";
  if (name == "aws" || name == "s3") return "aws";
  if (name == "gcp" || name == "gs") return "gcp";
  if (name == "azure") return "azure";
  return name == "oci" ? "oci" : std::string_view{};
}

/// What the variables say now.
inline result<access_token> find_token() {
  if (auto token = ais_variable("AIS_AUTHN_TOKEN")) return access_token{*token, system_time::max()};
  const auto path = ais_variable("AIS_AUTHN_TOKEN_FILE");
  if (!path) {
    return error{errc::unauthenticated,
                 "neither AIS_AUTHN_TOKEN nor AIS_AUTHN_TOKEN_FILE is set any more"};
  }
  auto text = auth::process_environment().read_file(*path);
  if (!text) {
    return error{errc::unauthenticated, "AIS_AUTHN_TOKEN_FILE: " + text.error().message()};
  }
  const auto document = codec::json_document::parse(as_bytes(*text));
  const auto token = document ? document->root().find("token").text() : std::nullopt;
  if (token && !token->empty()) return access_token{std::string{*token}, system_time::max()};
  return error{errc::invalid_argument,
               "AIS_AUTHN_TOKEN_FILE: " + *path + " is no JSON document with a text \"token\""};
}

inline credentials_ptr credentials_of(const client_options& o) {
  if (o.credentials) return o.credentials;
  const bool told = ais_variable("AIS_AUTHN_TOKEN") || ais_variable("AIS_AUTHN_TOKEN_FILE");
  return told ? make_token_provider(&find_token) : make_anonymous_credentials();
}

inline result<ais::endpoint> endpoint_of(const client_options& o, const credentials& who) {
  const std::string url =
      o.endpoint.empty() ? ais_variable("AIS_ENDPOINT").value_or(std::string{}) : o.endpoint;
  if (url.empty()) {
    return error{errc::invalid_argument,
                 "endpoint: AIStore has no usual place; name a gateway, or set AIS_ENDPOINT"};
  }
  auto where = endpoint::make(url);
  if (!where || who.anonymous() || where->may_learn_token(*where->gateway())) return where;
  return error{errc::invalid_argument,
               "endpoint: " + where->gateway()->to_string() +
                   " is plain HTTP and no loopback address, which would show tokens to the "
                   "network"};
}

inline service::call_options call_options_of(const client_options& given) {
  using o = client_options;
  client_options all =
      detail::with_defaults<&o::stall_timeout, &o::least_throughput, &o::throughput_window,
                            &o::first_byte_timeout, &o::connect_timeout>(given);
  return {.retry = all.retry,
          .connect_timeout = all.connect_timeout,
          .first_byte_timeout = all.first_byte_timeout,
          .complete_timeout = all.first_byte_timeout,
          .stall_timeout = all.stall_timeout,
          .least_throughput = all.least_throughput,
          .throughput_window = all.throughput_window,
          .user_agent = std::move(all.user_agent),
          .observer = all.observer};
}

inline result<void> check_options(const client_options& o) {
  if (provider_of(o.provider).empty()) {
    return error{errc::invalid_argument, "provider: one of ais, aws (s3), gcp (gs), azure and oci"};
  }
  http::header_list check;
  check.add("user_agent", o.user_agent);
  if (check.valid()) return {};
  return error{errc::invalid_argument, "user_agent has a line break or a zero byte"};
}

/// Why a verb is refused.
inline std::string refusal_of(const compose_request&) {
  return "compose: AIStore joins no objects";
}
inline std::string refusal_of(const move_request&) {
  return "move: AIStore's own is not used, since it knows no conditions";
}
inline std::string refusal_of(const rewrite_request&) {
  return "copy: AIStore's own is not used, since it knows no conditions; read and insert";
}
template <class Request>
std::string refusal_of(const Request&) {
  return std::string{"uploads in parts: "}.append(no_conditions);
}

inline auth::token_cache& tokens_of(service::client_core& core) noexcept {
  return static_cast<service::bearer_signer&>(*core.signer).tokens();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais

namespace dataflux::inline DATAFLUX_ABI::ais {

DATAFLUX_INLINE client::client(detail::ref<detail::service::client_core> core) noexcept
    : core_(std::move(core)) {}

DATAFLUX_INLINE result<std::shared_ptr<client>> client::create(client_options options) {
  if (auto good = detail::ais::check_options(options); !good) return std::move(good).error();
  credentials_ptr who = detail::ais::credentials_of(options);
  auto where = detail::ais::endpoint_of(options, *who);
  if (!where) return std::move(where).error();
  std::shared_ptr<detail::http::transport> transport =
      std::exchange(options.shared_transport, nullptr);
  if (transport == nullptr) {
    auto made = curl_transport::create(options.transport);
    if (!made) return std::move(made).error();
    transport = std::move(*made);
  }
  auto signer = std::make_unique<detail::service::bearer_signer>(
      std::move(who), *transport, detail::auth::token_cache_options{.observer = options.observer});
  using core = detail::service::client_core;
  return std::shared_ptr<client>(new client(detail::ref<core>::adopt(
      new core(detail::ais::call_options_of(options),
               std::make_unique<const detail::ais::dialect>(
                   *std::move(where), detail::ais::provider_of(options.provider)),
               std::move(signer), std::move(transport)))));
}

DATAFLUX_INLINE client::~client() { detail::service::end_core(core_); }

DATAFLUX_INLINE std::string client::endpoint() const {
  return detail::ais::dialect_of(*core_).endpoint().to_string();
}
DATAFLUX_INLINE const counters& client::totals() const noexcept { return core_->totals; }
DATAFLUX_INLINE client_snapshot client::snapshot() const { return core_->look(); }
DATAFLUX_INLINE result<void> client::limit_rate(std::string_view bucket, std::string_view kind,
                                                double rate) {
  return core_->limit_rate(bucket, kind, rate);
}
DATAFLUX_INLINE result<void> client::set_token(const access_token& token) {
  if (core_->forked()) return detail::forked_error("client");
  return detail::ais::tokens_of(*core_).set_token(token);
}
DATAFLUX_INLINE result<std::optional<access_token>> client::token() {
  if (core_->forked()) return detail::forked_error("client");
  return detail::ais::tokens_of(*core_).current(core_->transport().next_executor().now());
}
DATAFLUX_INLINE result<void> client::fail_token(const error& why) {
  if (core_->forked()) return detail::forked_error("client");
  return detail::ais::tokens_of(*core_).fail_token(why);
}

DATAFLUX_INLINE store_traits client::traits() const noexcept {
  return {.scheme = detail::ais::dialect_of(*core_).scheme(),
          .max_list_page = detail::ais::greatest_page,
          .max_compose_sources = 0,
          .moves = false,
          .conditional_complete = false,
          .ordered_generations = false,
          .crc32c_everywhere = false,
          .conditional_changes = false,
          .max_batch_reads = detail::ais::greatest_batch,
          .members = core_->dialect->reads_members(),
          .lists_metadata = false,
          .lists_versions = false};
}
DATAFLUX_INLINE scheduler& client::executor() noexcept {
  return core_->transport().next_executor();
}

DATAFLUX_INLINE void client::start(const read_request& request, byte_sink& sink,
                                   completion<read_summary> done) {
  detail::ais::read_call<detail::ais::read_verb>::start(core_, request, sink, std::move(done));
}
template <class Request>
void client::begin(const Request& request, completion<typename Request::value> done) {
  using found = detail::service::verb_of<Request, detail::ais::verbs>;
  if constexpr (requires { typename found::type; }) {
    detail::ais::verb_call<typename found::type>::start(core_, request, std::move(done));
  } else {
    error why{errc::unimplemented, detail::ais::refusal_of(request)};
    why.with_scheme("ais").with_bucket(request.bucket);
    core_->transport().next_executor().post(
        [why = std::move(why), done = std::move(done)]() mutable { done(std::move(why)); });
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::ais
