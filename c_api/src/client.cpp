#include "client.hpp"

#include <dataflux/auth/credentials.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cache.hpp"

namespace dataflux_c {

cancellable::~cancellable() {
  if (watched_by_ != nullptr) watched_by_->forget(*this);
}

result<void> client_state::watch(cancellable& what) {
  std::scoped_lock lock(mutex_);
  if (closed_) return closed_error("client");
  what.watched_by_ = shared_from_this();
  what.known_ = true;
  what.after_ = first_;
  if (first_ != nullptr) first_->before_ = &what;
  first_ = &what;
  return {};
}

void client_state::unlink(cancellable& what) noexcept {
  what.known_ = false;
  (what.before_ == nullptr ? first_ : what.before_->after_) = what.after_;
  if (what.after_ != nullptr) what.after_->before_ = what.before_;
}

void client_state::forget(cancellable& what) noexcept {
  std::scoped_lock lock(mutex_);
  if (what.known_) unlink(what);
}

bool client_state::closed() const {
  std::scoped_lock lock(mutex_);
  return closed_;
}

/// One after the other, since a list of them would need memory, and whoever is destroyed here waits
/// for its end.
void client_state::close() {
  for (;;) {
    std::shared_ptr<cancellable> alive;
    {
      std::scoped_lock lock(mutex_);
      closed_ = true;
      if (first_ == nullptr) return;
      cancellable& what = *first_;
      unlink(what);
      // Null for one that nobody has any more: its destructor waits for the lock.
      alive = what.weak_from_this().lock();
    }
    if (alive != nullptr) alive->cancel();
  }
}

namespace {

result<client_state*> usable_state(const dataflux_client* client) {
  if (auto good = usable(client, "client"); !good) return std::move(good).error();
  if (client->state->closed()) return closed_error("client");
  return client->state.get();
}

using ring_ptr = std::shared_ptr<dataflux::event_ring>;

result<dataflux::credentials_ptr> credentials_of(const dataflux_client_options& o,
                                                 const ring_ptr& ring) {
  if (o.credentials != DATAFLUX_CREDENTIALS_FILE && o.credentials_file != nullptr) {
    return error(errc::invalid_argument,
                 "credentials_file is for credentials = DATAFLUX_CREDENTIALS_FILE");
  }
  switch (o.credentials) {
    case DATAFLUX_CREDENTIALS_DEFAULT:
      return dataflux::credentials_ptr();
    case DATAFLUX_CREDENTIALS_ANONYMOUS:
      return dataflux::make_anonymous_credentials();
    case DATAFLUX_CREDENTIALS_FILE:
      if (o.credentials_file == nullptr) return missing("credentials_file");
      return dataflux::load_credentials_file(o.credentials_file);
    case DATAFLUX_CREDENTIALS_TOKEN:
      return dataflux::make_set_tokens(
          ring == nullptr ? std::function<void()>() : [ring] { ring->need_token(); },
          duration_of(o.token_limit_ns));
    default:
      return error(errc::invalid_argument, "credentials: " + std::to_string(o.credentials) +
                                               " is no DATAFLUX_CREDENTIALS_*");
  }
}

/// The same credentials. A client has them to its very end, which may come after that of its
/// handles, and uses the ring until then: they keep it.
dataflux::credentials_ptr keeping(const ring_ptr& ring, dataflux::credentials_ptr credentials) {
  if (ring == nullptr) return credentials;
  const dataflux::credentials* const same = credentials.get();
  using both = std::pair<dataflux::credentials_ptr, ring_ptr>;
  return {std::make_shared<both>(std::move(credentials), ring), same};
}

std::vector<std::string> words_of(const char* text) {
  std::vector<std::string> words;
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(" \t\n"), rest.size());
    if (end > 0) words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

/// How all clients connect.
void set_transport(const dataflux_client_options& o, dataflux::curl_transport_options& t) {
  t.ca_file = text_of(o.ca_file);
  t.io_threads = o.io_threads;
  t.max_connections_per_host = o.max_connections_per_host;
  t.client = {.certificate_file = text_of(o.client_certificate_file),
              .key_file = text_of(o.client_key_file),
              .key_password = text_of(o.client_key_password)};
  t.proxy = text_of(o.proxy);
  t.no_proxy = text_of(o.no_proxy);
  t.proxy_ca_file = text_of(o.proxy_ca_file);
  t.resolve = words_of(o.resolve);
}

/// What the clients of all services have.
template <class Options>
void set_shared(const dataflux_client_options& o, const ring_ptr& ring, Options& c,
                dataflux::encryption_key key = {}) {
  c.observer = ring.get();
  c.endpoint = text_of(o.endpoint);
  c.user_agent = text_of(o.user_agent);
  set_transport(o, c.transport);
  c.connect_timeout = duration_of(o.connect_timeout_ns);
  c.stall_timeout = duration_of(o.stall_timeout_ns);
  c.first_byte_timeout = duration_of(o.first_byte_timeout_ns);
  if constexpr (requires { c.encryption_key; }) c.encryption_key = std::move(key);
  if (o.max_attempts != 0) c.retry.max_attempts = static_cast<int>(std::min(o.max_attempts, 1000U));
}

result<dataflux::encryption_key> key_of(const dataflux_client_options& o) {
  if (o.encryption_key == nullptr) return dataflux::encryption_key();
  if (o.cache != nullptr) {
    return error(
        errc::invalid_argument,
        "cache: what is under an encryption_key comes onto no disk: leave out one of them");
  }
  return dataflux::encryption_key::from_bytes(bytes_at(o.encryption_key));
}

/// The first of them that is set.
struct option_set {
  bool set;
  const char* name;
};
result<void> none_set(std::initializer_list<option_set> options, const char* service) {
  for (const option_set& each : options) {
    if (!each.set) continue;
    return error(errc::invalid_argument,
                 std::string(each.name) + " is no option of a client of " + service);
  }
  return {};
}

result<any_client> make_gcs(const dataflux_client_options& o, const ring_ptr& ring) {
  auto fits = none_set({{o.region != nullptr, "region"},
                        {o.addressing != 0, "addressing"},
                        {o.access_key_id != nullptr, "access_key_id"},
                        {o.secret_access_key != nullptr, "secret_access_key"},
                        {o.session_token != nullptr, "session_token"},
                        {o.requester_pays != 0, "requester_pays"},
                        {o.upload_checksum != 0, "upload_checksum"},
                        {o.provider != nullptr, "provider"}},
                       "Google Cloud Storage");
  if (!fits) return std::move(fits).error();
  auto credentials = credentials_of(o, ring);
  if (!credentials) return std::move(credentials).error();
  auto key = key_of(o);
  if (!key) return std::move(key).error();
  dataflux::gcs::client_options c;
  c.credentials = keeping(ring, *std::move(credentials));
  c.emulator = o.emulator != 0;
  c.tokens_to_emulator = o.tokens_to_emulator != 0;
  c.user_project = text_of(o.user_project);
  c.quota_project = text_of(o.quota_project);
  c.host = text_of(o.host);
  c.token_cache = text_of(o.token_cache);
  set_shared(o, ring, c, *std::move(key));
  auto made = dataflux::gcs::client::create(std::move(c));
  if (!made) return std::move(made).error();
  return any_client(*std::move(made));
}

/// As whom, and where.
result<dataflux::aws_credentials> identity_of(const dataflux_client_options& o) {
  const auto in_region =
      [&o](result<dataflux::credentials_ptr> who) -> result<dataflux::aws_credentials> {
    if (!who) return std::move(who).error();
    return dataflux::aws_credentials{*std::move(who), text_of(o.region), {}};
  };
  const bool given =
      o.access_key_id != nullptr || o.secret_access_key != nullptr || o.session_token != nullptr;
  if (o.credentials == DATAFLUX_CREDENTIALS_ANONYMOUS) {
    if (!given) return in_region(dataflux::make_anonymous_credentials());
    return error(errc::invalid_argument, "anonymous requests have no access key");
  }
  if (o.credentials != DATAFLUX_CREDENTIALS_DEFAULT) {
    return error(errc::invalid_argument,
                 "credentials: " + std::to_string(o.credentials) +
                     " is none of S3: give keys, DATAFLUX_CREDENTIALS_DEFAULT or _ANONYMOUS");
  }
  if (!given) return dataflux::find_aws_credentials({.region = text_of(o.region)});
  if (o.access_key_id == nullptr) return missing("access_key_id");
  if (o.secret_access_key == nullptr) return missing("secret_access_key");
  return in_region(dataflux::make_aws_keys({.id = o.access_key_id,
                                            .secret = o.secret_access_key,
                                            .session_token = text_of(o.session_token)}));
}

result<any_client> make_s3(const dataflux_client_options& o, const ring_ptr& ring) {
  auto fits = none_set({{o.emulator != 0, "emulator"},
                        {o.tokens_to_emulator != 0, "tokens_to_emulator"},
                        {o.credentials_file != nullptr, "credentials_file"},
                        {o.user_project != nullptr, "user_project"},
                        {o.quota_project != nullptr, "quota_project"},
                        {o.host != nullptr, "host"},
                        {o.token_cache != nullptr, "token_cache"},
                        {o.provider != nullptr, "provider"}},
                       "S3");
  if (!fits) return std::move(fits).error();
  if (o.addressing > DATAFLUX_ADDRESSING_PATH) {
    return error(errc::invalid_argument, "addressing is no DATAFLUX_ADDRESSING_*");
  }
  if (o.upload_checksum > DATAFLUX_UPLOAD_CHECKSUM_NONE) {
    return error(errc::invalid_argument, "upload_checksum is no DATAFLUX_UPLOAD_CHECKSUM_*");
  }
  auto who = identity_of(o);
  if (!who) return std::move(who).error();
  auto key = key_of(o);
  if (!key) return std::move(key).error();
  dataflux::s3::client_options c;
  c.credentials = keeping(ring, std::move(who->credentials));
  c.region = std::move(who->region);
  c.addressing = static_cast<dataflux::s3::addressing>(o.addressing);
  c.requester_pays = o.requester_pays != 0;
  c.upload_checksum = static_cast<dataflux::s3::upload_checksum>(o.upload_checksum);
  set_shared(o, ring, c, *std::move(key));
  if (c.endpoint.empty()) c.endpoint = std::move(who->endpoint);
  auto made = dataflux::s3::client::create(std::move(c));
  if (!made) return std::move(made).error();
  return any_client(*std::move(made));
}

result<any_client> make_ais(const dataflux_client_options& o, const ring_ptr& ring) {
  auto fits = none_set({{o.emulator != 0, "emulator"},
                        {o.tokens_to_emulator != 0, "tokens_to_emulator"},
                        {o.credentials_file != nullptr, "credentials_file"},
                        {o.user_project != nullptr, "user_project"},
                        {o.quota_project != nullptr, "quota_project"},
                        {o.host != nullptr, "host"},
                        {o.token_cache != nullptr, "token_cache"},
                        {o.region != nullptr, "region"},
                        {o.addressing != 0, "addressing"},
                        {o.access_key_id != nullptr, "access_key_id"},
                        {o.secret_access_key != nullptr, "secret_access_key"},
                        {o.session_token != nullptr, "session_token"},
                        {o.requester_pays != 0, "requester_pays"},
                        {o.upload_checksum != 0, "upload_checksum"},
                        {o.encryption_key != nullptr, "encryption_key"}},
                       "AIStore");
  if (!fits) return std::move(fits).error();
  auto credentials = credentials_of(o, ring);
  if (!credentials) return std::move(credentials).error();
  dataflux::ais::client_options c;
  c.credentials = keeping(ring, *std::move(credentials));
  c.provider = text_of(o.provider);
  set_shared(o, ring, c);
  auto made = dataflux::ais::client::create(std::move(c));
  if (!made) return std::move(made).error();
  return any_client(*std::move(made));
}

result<any_client> make_service(const dataflux_client_options& o, const ring_ptr& ring) {
  if (o.service == DATAFLUX_SERVICE_GCS) return make_gcs(o, ring);
  if (o.service == DATAFLUX_SERVICE_S3) return make_s3(o, ring);
  if (o.service == DATAFLUX_SERVICE_AIS) return make_ais(o, ring);
  return error(errc::invalid_argument, "service is no DATAFLUX_SERVICE_*");
}

/// What a cache knows the service by.
std::string service_of(const any_client& made) {
  if (const auto* const gcs = std::get_if<std::shared_ptr<dataflux::gcs::client>>(&made)) {
    return (*gcs)->endpoint().to_string();
  }
  if (const auto* const s3 = std::get_if<std::shared_ptr<dataflux::s3::client>>(&made)) {
    return "s3:" + (*s3)->endpoint();
  }
  return "ais:" + std::get<std::shared_ptr<dataflux::ais::client>>(made)->endpoint();
}

result<std::shared_ptr<client_state>> make_client(const dataflux_client_options* given) {
  const auto known = options_of(given);
  if (!known) return known.error();
  const dataflux_client_options& o = *known;
  if (o.cache != nullptr) {
    if (auto good = usable(o.cache, "cache"); !good) return std::move(good).error();
  }
  ring_ptr ring;
  if (o.event_capacity != 0) {
    ring = std::make_shared<dataflux::event_ring>(
        dataflux::event_ring_options{.capacity = static_cast<std::size_t>(o.event_capacity)});
  }
  auto made = make_service(o, ring);
  if (!made) return std::move(made).error();
  dataflux::transfer_options t;
  t.memory_cap = o.memory_cap;
  t.upload_memory = o.upload_memory;
  t.slice = o.slice;
  if (o.max_concurrency != 0) {
    t.concurrency.max = static_cast<int>(std::min(o.max_concurrency, 65'536U));
  }
  auto state = std::make_shared<client_state>(std::move(ring), *std::move(made), t);
  if (o.cache != nullptr) {
    state->cache = o.cache->what;
    state->cache->serve(state->context, service_of(state->service));
  }
  return state;
}

/// Calls `use` with the client, where its service takes tokens.
template <class Use>
result<void> with_tokens(const dataflux_client* client, Use use) {
  const auto state = usable_state(client);
  if (!state) return state.error();
  return std::visit(
      [&use](const auto& each) -> result<void> {
        if constexpr (requires { each->set_token({}); }) {
          return use(*each);
        } else {
          return error(errc::failed_precondition, "a client of S3 takes keys, and no tokens");
        }
      },
      (*state)->service);
}

/// Gives a copy of what `text_of_snapshot` makes of what the client does now.
result<void> give_metrics(const dataflux_client* client,
                          std::string (&text_of_snapshot)(const dataflux::client_snapshot&),
                          char** out) {
  if (out == nullptr) return missing("out");
  *out = nullptr;
  const auto state = usable_state(client);
  if (!state) return state.error();
  *out = text_for_caller(text_of_snapshot((*state)->snapshot()));
  return {};
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;

void dataflux_client_options_init(dataflux_client_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_client_create(const dataflux_client_options* options,
                                       dataflux_client** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    auto made = dataflux_c::make_client(options);
    if (!made) return std::move(made).error();
    *out = new dataflux_client(*std::move(made));
    return {};
  });
}

dataflux_status dataflux_client_set_token(dataflux_client* client, const char* token,
                                          int64_t expires_ns, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (token == nullptr) return missing("token");
    using std::chrono::system_clock;
    dataflux::access_token given{token, system_clock::time_point::max()};
    if (expires_ns != 0) {
      given.expires = system_clock::time_point(
          std::chrono::duration_cast<system_clock::duration>(std::chrono::nanoseconds(expires_ns)));
    }
    return dataflux_c::with_tokens(client, [&](auto& known) { return known.set_token(given); });
  });
}

dataflux_status dataflux_client_token(dataflux_client* client, char** token, int64_t* expires_ns,
                                      dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (token == nullptr || expires_ns == nullptr) {
      return missing(token == nullptr ? "token" : "expires_ns");
    }
    *token = nullptr;
    *expires_ns = 0;
    return dataflux_c::with_tokens(client, [&](auto& known) -> result<void> {
      const auto now = known.token();
      if (!now) return now.error();
      if (!*now) return {};
      if ((*now)->expires != dataflux::system_time::max()) {
        *expires_ns =
            std::chrono::duration_cast<std::chrono::nanoseconds>((*now)->expires.time_since_epoch())
                .count();
      }
      *token = dataflux_c::text_for_caller((*now)->value);
      return {};
    });
  });
}

dataflux_status dataflux_client_fail_token(dataflux_client* client, dataflux_status status,
                                           const char* message, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (message == nullptr) return missing("message");
    if (status < DATAFLUX_CANCELLED || status > DATAFLUX_UNAUTHENTICATED) {
      return dataflux_c::error(dataflux_c::errc::invalid_argument,
                               "status: " + std::to_string(status) + " is no failure");
    }
    return dataflux_c::with_tokens(client, [&](auto& known) {
      return known.fail_token({static_cast<dataflux_c::errc>(status), message});
    });
  });
}

dataflux_status dataflux_client_metrics(const dataflux_client* client, char** out,
                                        dataflux_error** err) {
  return guarded(err, [&] { return dataflux_c::give_metrics(client, dataflux::to_json, out); });
}

dataflux_status dataflux_client_prometheus(const dataflux_client* client, char** out,
                                           dataflux_error** err) {
  return guarded(err,
                 [&] { return dataflux_c::give_metrics(client, dataflux::to_prometheus, out); });
}

void dataflux_text_free(char* text) { delete[] text; }

dataflux_status dataflux_client_forget(const dataflux_client* client, const char* bucket,
                                       const char* object, int64_t generation,
                                       dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (bucket == nullptr) return missing("bucket");
    if (object == nullptr) return missing("object");
    const auto state = dataflux_c::usable_state(client);
    if (!state) return state.error();
    (*state)->context.state()->engine.forget_object(bucket, object, generation);
    return {};
  });
}

void dataflux_client_close(dataflux_client* client) {
  dataflux_c::if_own(client, [client] { client->state->close(); });
}

void dataflux_client_free(dataflux_client* client) { dataflux_c::free_handle(client); }
