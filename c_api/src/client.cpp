#include "client.hpp"

#include <dataflux/auth/credentials.hpp>
#include <dataflux/codec/detail/json_writer.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux_c {

result<void> client_state::watch(const std::shared_ptr<cancellable>& what) {
  std::scoped_lock lock(mutex_);
  if (closed_) return closed_error("client");
  if (under_way_.size() >= sweep_at_) {
    std::erase_if(under_way_, [](const auto& each) { return each.expired(); });
    sweep_at_ = 2 * under_way_.size() + 64;
  }
  under_way_.push_back(what);
  return {};
}

bool client_state::closed() const {
  std::scoped_lock lock(mutex_);
  return closed_;
}

void client_state::close() {
  std::vector<std::weak_ptr<cancellable>> all;
  {
    std::scoped_lock lock(mutex_);
    closed_ = true;
    all.swap(under_way_);
  }
  for (const auto& each : all) {
    if (const auto alive = each.lock()) alive->cancel();
  }
}

namespace {

namespace auth = dataflux::auth;

result<client_state*> usable_state(const dataflux_client* client) {
  if (auto good = usable(client, "client"); !good) return std::move(good).error();
  if (client->state->closed()) return closed_error("client");
  return client->state.get();
}

result<auth::credentials_ptr> credentials_of(const dataflux_client_options& o) {
  if (o.credentials != DATAFLUX_CREDENTIALS_FILE && o.credentials_file != nullptr) {
    return error(errc::invalid_argument,
                 "credentials_file is for credentials = DATAFLUX_CREDENTIALS_FILE");
  }
  switch (o.credentials) {
    case DATAFLUX_CREDENTIALS_DEFAULT:
      return auth::credentials_ptr();
    case DATAFLUX_CREDENTIALS_ANONYMOUS:
      return auth::make_anonymous_credentials();
    case DATAFLUX_CREDENTIALS_FILE:
      if (o.credentials_file == nullptr) return missing("credentials_file");
      return auth::load_credentials_file(o.credentials_file);
    case DATAFLUX_CREDENTIALS_TOKEN:
      return auth::make_set_tokens({}, duration_of(o.token_limit_ns));
    default:
      return error(errc::invalid_argument, "credentials: " + std::to_string(o.credentials) +
                                               " is no DATAFLUX_CREDENTIALS_*");
  }
}

result<std::shared_ptr<client_state>> make_client(const dataflux_client_options* given) {
  const auto known = options_of(given);
  if (!known) return known.error();
  const dataflux_client_options& o = *known;
  auto credentials = credentials_of(o);
  if (!credentials) return std::move(credentials).error();
  dataflux::gcs::client_options c;
  c.credentials = *std::move(credentials);
  c.endpoint = text_of(o.endpoint);
  c.emulator = o.emulator != 0;
  c.user_project = text_of(o.user_project);
  c.quota_project = text_of(o.quota_project);
  c.user_agent = text_of(o.user_agent);
  c.transport.ca_file = text_of(o.ca_file);
  c.transport.io_threads = o.io_threads;
  c.transport.max_connections_per_host = o.max_connections_per_host;
  c.connect_timeout = duration_of(o.connect_timeout_ns);
  c.stall_timeout = duration_of(o.stall_timeout_ns);
  if (o.max_attempts != 0) c.retry.max_attempts = static_cast<int>(std::min(o.max_attempts, 1000U));
  auto made = dataflux::gcs::client::create(std::move(c));
  if (!made) return std::move(made).error();
  dataflux::transfer_options t;
  t.memory_cap = o.memory_cap;
  t.upload_memory = o.upload_memory;
  t.slice = o.slice;
  if (o.max_concurrency != 0) {
    t.concurrency.max = static_cast<int>(std::min(o.max_concurrency, 65'536U));
  }
  return std::make_shared<client_state>(*std::move(made), t);
}

std::string metrics_of(const client_state& c) {
  const auto& totals = c.client->totals();
  const auto now = c.context.counters();
  dataflux::codec::json_writer w;
  const auto number = [&w](std::string_view name, std::uint64_t value) {
    w.key(name).integer(static_cast<std::int64_t>(value));
  };
  w.begin_object();
  number("requests_class_a", totals.requests_a);
  number("requests_class_b", totals.requests_b);
  number("requests_free", totals.requests_free);
  number("retries", totals.retries);
  number("paced", totals.paced);
  number("failed", totals.failed);
  number("bytes_sent", totals.bytes_sent);
  number("bytes_received", totals.bytes_received);
  number("memory_held", now.held);
  number("memory_peak", now.peak_held);
  number("memory_borrowed", now.borrowed);
  number("reads_in_flight", now.in_flight);
  number("reads_waiting", now.waiting);
  number("reads_limit", static_cast<std::uint64_t>(std::max(now.concurrency, 0)));
  number("items", now.items);
  number("item_bytes", now.bytes);
  number("items_revoked", now.revoked);
  number("composites", now.composites);
  number("composites_left", now.composites_left);
  number("upload_held", now.upload_held);
  number("upload_peak", now.upload_peak);
  number("uploads", now.uploads);
  number("uploaded_bytes", now.uploaded_bytes);
  w.end_object();
  return std::move(w).take();
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;

void dataflux_client_options_init(dataflux_client_options* options) {
  dataflux_c::init_options(options);
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
    const auto state = dataflux_c::usable_state(client);
    if (!state) return state.error();
    if (token == nullptr) return missing("token");
    using std::chrono::system_clock;
    dataflux::auth::access_token given{token, system_clock::time_point::max()};
    if (expires_ns != 0) {
      given.expires = system_clock::time_point(
          std::chrono::duration_cast<system_clock::duration>(std::chrono::nanoseconds(expires_ns)));
    }
    return (*state)->client->set_token(given);
  });
}

dataflux_status dataflux_client_metrics(const dataflux_client* client, char** out,
                                        dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    const auto state = dataflux_c::usable_state(client);
    if (!state) return state.error();
    *out = dataflux_c::text_for_caller(dataflux_c::metrics_of(**state));
    return {};
  });
}

void dataflux_text_free(char* text) { delete[] text; }

void dataflux_client_close(dataflux_client* client) {
  dataflux_c::if_own(client, [client] { client->state->close(); });
}

void dataflux_client_free(dataflux_client* client) { dataflux_c::free_handle(client); }
