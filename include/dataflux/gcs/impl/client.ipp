#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/credentials_kinds.hpp>
#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/auth/detail/mutual_tls.hpp>
#include <dataflux/detail/or_default.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/gcs/detail/dialect.hpp>
#include <dataflux/gcs/detail/sign_call.hpp>
#include <dataflux/gcs/detail/verbs.hpp>
#include <dataflux/http/curl_transport.hpp>
#include <dataflux/http/detail/routes.hpp>
#include <dataflux/service/detail/bearer_signer.hpp>
#include <dataflux/service/detail/client_core.hpp>
#include <dataflux/service/detail/verb_of.hpp>

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

using dataflux::gcs::client_options;

/// Holds client::begin() of each verb, so that the compiled library has them.
template <class... Verbs>
struct compiled_verbs<detail::verb_list<Verbs...>> {
  template <class Verb>
  static auto begin_of() noexcept {
    if constexpr (std::is_same_v<Verb, read_verb>) {
      return nullptr;  // has a sink
    } else {
      return &dataflux::gcs::client::begin<typename Verb::request>;
    }
  }
  static auto all() noexcept { return std::make_tuple(begin_of<Verbs>()...); }
};

using service::client_core;

/// Where to go, and as whom.
struct destination {
  gcs::endpoint where;
  credentials_ptr credentials{};
};

inline result<destination> at_emulator(std::string_view host, const client_options& o) {
  auto where = endpoint::emulator(host);
  if (!where) return std::move(where).error();
  const http::origin& origin = *where->origin();
  if (o.tokens_to_emulator && !origin.tls && !origin.is_loopback()) {
    return error{errc::invalid_argument,
                 "tokens_to_emulator: " + origin.to_string() +
                     " is plain HTTP and no loopback address, which would show tokens to the "
                     "network"};
  }
  const bool as_somebody = o.tokens_to_emulator && o.credentials;
  return destination{std::move(*where), as_somebody ? o.credentials : make_anonymous_credentials()};
}

inline std::string universe_of(const client_options& o) {
  return auth::universe_of({.universe_domain = o.universe_domain}, auth::process_environment());
}

/// As auth/credentials.hpp checks those that it finds.
inline result<void> check_universe(const client_options& o) {
  const credentials_facts& facts = o.credentials->facts();
  const std::string universe = universe_of(o);
  if (universe.empty() || o.credentials->anonymous() || facts.universe_domain == universe) {
    return {};
  }
  return error{errc::invalid_argument, facts.describe() + ": universe_domain \"" +
                                           facts.universe_domain + "\" is not the endpoint's, \"" +
                                           universe + "\""};
}

/// Requests name `host`, and connections go to the endpoint.
inline result<void> name_endpoint(client_options& o) {
  if (o.host.empty()) return {};
  if (o.endpoint.empty() || o.shared_transport != nullptr) {
    return error{errc::invalid_argument,
                 "host: it goes with an endpoint, and with a transport of the client's own"};
  }
  const auto where = http::parse_url(o.endpoint);
  if (!where || !where->origin.tls) {
    return error{errc::invalid_argument,
                 "host: it goes with an endpoint of the form https://host[:port][/base]"};
  }
  const auto named = http::parse_url("https://" + o.host);
  if (!named || named->target != "/") {
    return error{errc::invalid_argument, "host: it is not of the form host[:port]"};
  }
  using routes = http::routes;
  const http::origin& from = named->origin;
  o.transport.connect_to.push_back(routes::text_of({from.host, from.port}) + ":" +
                                   routes::text_of({where->origin.host, where->origin.port}));
  o.endpoint = from.to_string() + where->target;
  return {};
}

inline bool is_at_emulator(const client_options& o) {
  return o.emulator || (o.endpoint.empty() &&
                        auth::set_variable(auth::process_environment(), "STORAGE_EMULATOR_HOST"));
}

/// The certificate that is shown goes into the transport's options.
inline result<auth::mutual_tls> find_certificate(client_options& o) {
  if (is_at_emulator(o) || o.shared_transport != nullptr) return auth::mutual_tls{};
  auto found = auth::find_mutual_tls(auth::process_environment(), o.transport.client);
  if (!found) return found;
  o.transport.client = found->certificate;
  found->endpoints = found->endpoints && o.endpoint.empty();
  return found;
}

/// By the folder that is named, if there is one.
inline result<credentials_ptr> shared(credentials_ptr of, const client_options& o) {
  std::string folder = o.token_cache;
  if (folder.empty()) {
    folder = auth::process_environment().variable("DATAFLUX_TOKEN_CACHE").value_or("");
  }
  if (folder.empty() || of == nullptr) return of;
  return share_tokens(std::move(of), folder, o.observer);
}

inline result<destination> find_destination(const client_options& o, bool mutual_tls) {
  if (o.emulator) return at_emulator(o.endpoint, o);
  if (o.endpoint.empty()) {
    // Also when credentials were given: a real token must never go to an emulator.
    const auto emulator = auth::process_environment().variable("STORAGE_EMULATOR_HOST");
    if (emulator && !emulator->empty()) return at_emulator(*emulator, o);
  }
  auto where = o.endpoint.empty() ? endpoint::for_universe(universe_of(o), mutual_tls)
                                  : endpoint::custom(o.endpoint);
  if (!where) return std::move(where).error();
  if (o.credentials) {
    if (auto fits = check_universe(o); !fits) return std::move(fits).error();
    return destination{std::move(*where), o.credentials};
  }
  auto found = find_default_credentials(
      {.quota_project = o.quota_project, .universe_domain = o.universe_domain});
  if (!found) return std::move(found).error();
  return destination{std::move(*where), std::move(found->credentials)};
}

/// Of a universe, of a place of the caller's, or of the emulator. Tokens go there, too.
inline result<iam_place> iam_of(const client_options& o, const endpoint& where) {
  if (o.iam_endpoint.empty() && where.is_emulator()) {
    std::string_view base = where.xml_buckets();
    base.remove_suffix(1);
    return iam_place{where.origin(), std::string{base}};
  }
  const std::string& universe =
      o.universe_domain.empty() ? std::string{default_universe} : o.universe_domain;
  auto url = http::parse_url(o.iam_endpoint.empty() ? "https://iamcredentials." + universe
                                                    : o.iam_endpoint);
  if (!url) return error{errc::invalid_argument, "iam_endpoint: " + url.error().message()};
  if (!url->origin.tls && !(where.is_emulator() && url->origin.is_loopback())) {
    return error{errc::invalid_argument, "iam_endpoint " + url->origin.to_string() +
                                             " is plain HTTP, which would show tokens to the "
                                             "network"};
  }
  if (url->target.find('?') != std::string::npos) {
    return error{errc::invalid_argument, "iam_endpoint has a query behind its path"};
  }
  while (url->target.ends_with('/')) url->target.pop_back();
  return iam_place{std::make_shared<const http::origin>(std::move(url->origin)),
                   std::move(url->target)};
}

/// The one that is asked for, else the one that the credentials say.
inline std::string quota_project_of(const client_options& o, const credentials_ptr& c) {
  if (!o.quota_project.empty() || !c) return o.quota_project;
  return c->facts().quota_project;
}

/// The one of the credentials, else the one whose quota is used.
inline std::string project_of(const client_options& o, const credentials_ptr& c) {
  return c && !c->facts().project.empty() ? c->facts().project : quota_project_of(o, c);
}

/// What goes into header fields: each request would fail otherwise.
inline result<void> check_fields(const client_options& o, const credentials_ptr& c) {
  for (const auto& [name, value] :
       {std::pair{"user_agent", o.user_agent}, std::pair{"user_project", o.user_project},
        std::pair{"quota_project", quota_project_of(o, c)}}) {
    http::header_list check;
    check.add(name, value);
    if (!check.valid()) {
      return error(errc::invalid_argument, std::string(name) + " has a line break or a zero byte");
    }
  }
  return {};
}

inline service::call_options call_options_of(client_options given) {
  using o = client_options;
  const client_options all =
      detail::with_defaults<&o::stall_timeout, &o::least_throughput, &o::throughput_window,
                            &o::first_byte_timeout, &o::complete_timeout, &o::connect_timeout>(
          std::move(given));
  return {.retry = all.retry,
          .connect_timeout = all.connect_timeout,
          .first_byte_timeout = all.first_byte_timeout,
          .complete_timeout = all.complete_timeout,
          .stall_timeout = all.stall_timeout,
          .least_throughput = all.least_throughput,
          .throughput_window = all.throughput_window,
          .user_agent = all.user_agent,
          .observer = all.observer};
}

inline ref<client_core> make_core(const client_options& o, destination to, iam_place iam,
                                  bool mutual_tls, std::shared_ptr<http::transport> transport) {
  dialect::settings how{.user_project = o.user_project,
                        .quota_project = quota_project_of(o, to.credentials),
                        .project = project_of(o, to.credentials),
                        .takes_tokens = !to.where.is_emulator() || o.tokens_to_emulator,
                        .given = o.credentials,
                        .signs = o.credentials ? o.credentials : to.credentials,
                        .iam = std::move(iam),
                        .key = o.encryption_key};
  auto who = std::make_unique<service::bearer_signer>(
      std::move(to.credentials), *transport,
      auth::token_cache_options{.mutual_tls = mutual_tls, .observer = o.observer});
  return ref<client_core>::adopt(new client_core(
      call_options_of(o), std::make_unique<const dialect>(std::move(to.where), std::move(how)),
      std::move(who), std::move(transport)));
}

inline const dialect& dialect_of(const client_core& core) noexcept {
  return static_cast<const dialect&>(*core.dialect);
}

inline auth::token_cache& tokens_of(client_core& core) noexcept {
  return static_cast<service::bearer_signer&>(*core.signer).tokens();
}

inline result<void> takes_tokens(const client_core& core) {
  if (core.forked()) return forked_error("client");
  if (!dialect_of(core).takes_tokens()) {
    return error{errc::failed_precondition,
                 "this client is at an emulator, " + dialect_of(core).endpoint().to_string() +
                     ", which gets no token unless tokens_to_emulator is set"};
  }
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

namespace dataflux::inline DATAFLUX_ABI::gcs {

DATAFLUX_INLINE client::client(detail::ref<detail::service::client_core> core) noexcept
    : core_(std::move(core)) {}

DATAFLUX_INLINE result<std::shared_ptr<client>> client::create(client_options options) {
  if (auto good = detail::gcs::name_endpoint(options); !good) return std::move(good).error();
  const auto certificate = detail::gcs::find_certificate(options);
  if (!certificate) return certificate.error();
  auto where = detail::gcs::find_destination(options, certificate->endpoints);
  if (!where) return std::move(where).error();
  auto whose = detail::gcs::shared(std::move(where->credentials), options);
  if (!whose) return std::move(whose).error();
  where->credentials = *std::move(whose);
  if (auto good = detail::gcs::check_fields(options, where->credentials); !good) {
    return std::move(good).error();
  }
  auto hidden = detail::check_key_place(options.encryption_key, *where->where.origin());
  if (!hidden) return std::move(hidden).error();
  auto iam = detail::gcs::iam_of(options, where->where);
  if (!iam) return std::move(iam).error();
  std::shared_ptr<detail::http::transport> transport =
      std::exchange(options.shared_transport, nullptr);
  if (transport == nullptr) {
    auto made = curl_transport::create(options.transport);
    if (!made) return std::move(made).error();
    transport = std::move(*made);
  }
  return std::shared_ptr<client>(new client(detail::gcs::make_core(
      options, *std::move(where), *std::move(iam), certificate->endpoints, std::move(transport))));
}

DATAFLUX_INLINE client::~client() { detail::service::end_core(core_); }

DATAFLUX_INLINE const detail::gcs::endpoint& client::endpoint() const noexcept {
  return detail::gcs::dialect_of(*core_).endpoint();
}
DATAFLUX_INLINE const counters& client::totals() const noexcept { return core_->totals; }
DATAFLUX_INLINE client_snapshot client::snapshot() const { return core_->look(); }
DATAFLUX_INLINE result<void> client::limit_rate(std::string_view bucket, std::string_view kind,
                                                double rate) {
  return core_->limit_rate(bucket, kind, rate);
}
DATAFLUX_INLINE result<void> client::set_token(const access_token& token) {
  if (auto good = detail::gcs::takes_tokens(*core_); !good) return good;
  return detail::gcs::tokens_of(*core_).set_token(token);
}
DATAFLUX_INLINE result<std::optional<access_token>> client::token() {
  if (auto good = detail::gcs::takes_tokens(*core_); !good) return std::move(good).error();
  return detail::gcs::tokens_of(*core_).current(core_->transport().next_executor().now());
}
DATAFLUX_INLINE result<void> client::fail_token(const error& why) {
  if (auto good = detail::gcs::takes_tokens(*core_); !good) return good;
  return detail::gcs::tokens_of(*core_).fail_token(why);
}
DATAFLUX_INLINE store_traits client::traits() const noexcept {
  const bool keyed = detail::gcs::dialect_of(*core_).context().key != nullptr;
  return {.crc32c_everywhere = !keyed, .customer_key = keyed};
}
DATAFLUX_INLINE scheduler& client::executor() noexcept {
  return core_->transport().next_executor();
}

DATAFLUX_INLINE void client::start(const read_request& request, byte_sink& sink,
                                   completion<read_summary> done) {
  detail::gcs::read_call<detail::gcs::read_verb>::start(core_, request, sink, std::move(done));
}
DATAFLUX_INLINE void client::start(const sign_url_request& request, completion<signed_url> done) {
  detail::gcs::start_signing(core_, request, std::move(done));
}
DATAFLUX_INLINE void client::start(const sign_form_request& request, completion<signed_form> done) {
  detail::gcs::start_signing(core_, request, std::move(done));
}
template <class Request>
void client::begin(const Request& request, completion<typename Request::value> done) {
  using verb = typename detail::service::verb_of<Request, detail::gcs::verbs>::type;
  detail::gcs::verb_call<verb>::start(core_, request, std::move(done));
}

}  // namespace dataflux::inline DATAFLUX_ABI::gcs
