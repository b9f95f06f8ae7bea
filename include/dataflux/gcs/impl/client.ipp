#pragma once

#include <dataflux/auth/adc.hpp>
#include <dataflux/auth/anonymous.hpp>
#include <dataflux/auth/environment.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/gcs/detail/client_core.hpp>
#include <dataflux/gcs/detail/read_call.hpp>
#include <dataflux/gcs/detail/verb_call.hpp>
#include <dataflux/gcs/list_verb.hpp>
#include <dataflux/http/curl_transport.hpp>

#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::gcs {

namespace detail {

/// Where to go, and as whom.
struct destination {
  gcs::endpoint where;
  auth::credentials_ptr credentials{};
};

inline result<destination> at_emulator(std::string_view host) {
  auto where = endpoint::emulator(host);
  if (!where) return std::move(where).error();
  return destination{std::move(*where), auth::make_anonymous_credentials()};
}

inline result<destination> find_destination(const client_options& o) {
  if (o.emulator) return at_emulator(o.endpoint);
  if (o.endpoint.empty()) {
    // Also when credentials were given: a real token must never go to an emulator.
    const auto emulator = auth::process_environment().variable("STORAGE_EMULATOR_HOST");
    if (emulator && !emulator->empty()) return at_emulator(*emulator);
  }
  auto where =
      o.endpoint.empty() ? endpoint::for_universe(o.universe_domain) : endpoint::custom(o.endpoint);
  if (!where) return std::move(where).error();
  if (o.credentials) return destination{std::move(*where), o.credentials};
  auto found = auth::find_default_credentials(
      {.quota_project = o.quota_project, .universe_domain = o.universe_domain});
  if (!found) return std::move(found).error();
  return destination{std::move(*where), std::move(found->credentials)};
}

}  // namespace detail

DATAFLUX_INLINE client::client(ref<detail::client_core> core) noexcept : core_(std::move(core)) {}

DATAFLUX_INLINE result<std::shared_ptr<client>> client::create(client_options options) {
  auto where = detail::find_destination(options);
  if (!where) return std::move(where).error();
  // The core's copy of the options must not keep the transport: see ~client.
  std::shared_ptr<http::transport> transport = std::exchange(options.shared_transport, nullptr);
  if (transport == nullptr) {
    auto made = http::curl_transport::create(options.transport);
    if (!made) return std::move(made).error();
    transport = std::move(*made);
  }
  auto core = ref<detail::client_core>::adopt(
      new detail::client_core(std::move(options), std::move(where->where), std::move(transport),
                              std::move(where->credentials)));
  return std::shared_ptr<client>(new client(std::move(core)));
}

DATAFLUX_INLINE client::~client() {
  if (core_->forked()) {
    static_cast<void>(core_.leak());  // its threads and locks are the parent's
    return;
  }
  core_->close();
  // The transport must end here and not on one of its own threads, where a task that is still
  // posted may hold the last reference to the core.
  core_->tokens.reset();
  core_->transport.reset();
}

DATAFLUX_INLINE const gcs::endpoint& client::endpoint() const noexcept { return core_->where; }
DATAFLUX_INLINE const counters& client::totals() const noexcept { return core_->totals; }
DATAFLUX_INLINE result<void> client::set_token(const auth::access_token& token) {
  if (core_->forked()) return detail::forked_error();
  return core_->tokens->set_token(token);
}
DATAFLUX_INLINE store_traits client::traits() const noexcept { return {}; }
DATAFLUX_INLINE scheduler& client::executor() noexcept { return core_->transport->next_executor(); }

DATAFLUX_INLINE void client::start_list_page(const list_page_request& request,
                                             completion<dataflux::list_page> done) {
  detail::verb_call<list_verb>::start(core_, request, std::move(done));
}
DATAFLUX_INLINE void client::start_stat(const stat_request& request,
                                        completion<object_metadata> done) {
  detail::verb_call<stat_verb>::start(core_, request, std::move(done));
}
DATAFLUX_INLINE void client::start_read(const read_request& request, byte_sink& sink,
                                        completion<read_summary> done) {
  detail::read_call::start(core_, request, sink, std::move(done));
}
DATAFLUX_INLINE void client::start_insert(const insert_request& request,
                                          completion<object_metadata> done) {
  detail::verb_call<insert_verb>::start(core_, request, std::move(done));
}
DATAFLUX_INLINE void client::start_remove(const remove_request& request, completion<void> done) {
  detail::verb_call<remove_verb>::start(core_, request, std::move(done));
}
DATAFLUX_INLINE void client::start_multipart_initiate(const multipart_initiate_request& request,
                                                      completion<multipart_upload> done) {
  detail::verb_call<multipart_initiate_verb>::start(core_, request, std::move(done));
}
DATAFLUX_INLINE void client::start_upload_part(const upload_part_request& request,
                                               completion<uploaded_part> done) {
  detail::verb_call<upload_part_verb>::start(core_, request, std::move(done));
}
DATAFLUX_INLINE void client::start_multipart_complete(const multipart_complete_request& request,
                                                      completion<object_metadata> done) {
  detail::verb_call<multipart_complete_verb>::start(core_, request, std::move(done));
}
DATAFLUX_INLINE void client::start_multipart_abort(const multipart_abort_request& request,
                                                   completion<void> done) {
  detail::verb_call<multipart_abort_verb>::start(core_, request, std::move(done));
}

}  // namespace dataflux::inline DATAFLUX_ABI::gcs
