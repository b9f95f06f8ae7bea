#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/detail/or_default.hpp>
#include <dataflux/exec/detail/blocking_worker.hpp>
#include <dataflux/s3/client.hpp>
#include <dataflux/s3/detail/dialect.hpp>
#include <dataflux/s3/detail/keys_signer.hpp>
#include <dataflux/s3/detail/verbs.hpp>
#include <dataflux/service/detail/client_core.hpp>
#include <dataflux/service/detail/verb_of.hpp>

#include <initializer_list>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

using dataflux::s3::client_options;

/// Holds client::begin() of each verb, so that the compiled library has them.
template <class... Verbs>
struct compiled_verbs<detail::verb_list<Verbs...>> {
  template <class Verb>
  static auto begin_of() noexcept {
    if constexpr (std::is_same_v<Verb, read_verb>) {
      return nullptr;  // has a sink
    } else {
      return &dataflux::s3::client::begin<typename Verb::request>;
    }
  }
  static auto all() noexcept { return std::make_tuple(begin_of<Verbs>()...); }
};

/// The first that is set, and not empty.
inline std::string first_of(std::initializer_list<const char*> variables, std::string otherwise) {
  for (const char* const name : variables) {
    if (auto value = auth::process_environment().variable(name); value && !value->empty()) {
      return *std::move(value);
    }
  }
  return otherwise;
}

inline result<s3::endpoint> endpoint_of(const client_options& o) {
  endpoint_rules rules{o.endpoint, o.addressing, o.dual_stack, o.fips};
  if (rules.url.empty()) rules.url = first_of({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}, {});
  return endpoint::make(rules);
}

/// As whom, and where.
inline result<aws_credentials> identity_of(const client_options& o) {
  aws_credentials who{o.credentials, o.region};
  if (!who.credentials) {
    auto found = find_aws_credentials({.region = o.region});
    if (!found) return std::move(found).error();
    who = *std::move(found);
  }
  if (who.region.empty()) who.region = first_of({"AWS_REGION", "AWS_DEFAULT_REGION"}, "us-east-1");
  if (is_region(who.region)) return who;
  return error{errc::invalid_argument, "the region is no name of one, such as \"us-east-1\""};
}

inline service::call_options call_options_of(client_options given) {
  using o = client_options;
  client_options all =
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
          .user_agent = std::move(all.user_agent),
          .observer = all.observer};
}

inline result<void> check_fields(const client_options& o) {
  http::header_list check;
  check.add("user_agent", o.user_agent);
  if (check.valid()) return {};
  return error(errc::invalid_argument, "user_agent has a line break or a zero byte");
}

inline const dialect& dialect_of(const service::client_core& core) noexcept {
  return static_cast<const dialect&>(*core.dialect);
}

/// For a verb that S3 lacks.
template <class Value>
void refuse(service::client_core& core, std::string_view what,
            object_store::completion<Value> done) {
  core.transport().next_executor().post([what, done = std::move(done)]() mutable {
    done(error(errc::unimplemented, std::string{"S3 has no "}.append(what)));
  });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

namespace dataflux::inline DATAFLUX_ABI::s3 {

DATAFLUX_INLINE client::client(detail::ref<detail::service::client_core> core) noexcept
    : core_(std::move(core)) {}

DATAFLUX_INLINE result<std::shared_ptr<client>> client::create(client_options options) {
  auto where = detail::s3::endpoint_of(options);
  if (!where) return std::move(where).error();
  auto identity = detail::s3::identity_of(options);
  if (!identity) return std::move(identity).error();
  if (auto good = detail::s3::check_fields(options); !good) return std::move(good).error();
  std::shared_ptr<detail::http::transport> transport =
      std::exchange(options.shared_transport, nullptr);
  if (transport == nullptr) {
    auto made = curl_transport::create(options.transport);
    if (!made) return std::move(made).error();
    transport = std::move(*made);
  }
  const detail::s3::dialect::settings how{
      .requester_pays = options.requester_pays,
      .conditional_writes = where->is_aws() || options.conditional_writes,
      .uploads = options.upload_checksum};
  auto who = std::make_unique<detail::s3::keys_signer>(std::move(identity->credentials), *transport,
                                                       options.observer);
  using core = detail::service::client_core;
  return std::shared_ptr<client>(new client(detail::ref<core>::adopt(new core(
      detail::s3::call_options_of(std::move(options)),
      std::make_unique<const detail::s3::dialect>(*where, std::move(identity->region), how),
      std::move(who), std::move(transport)))));
}

DATAFLUX_INLINE client::~client() { detail::service::end_core(core_); }

DATAFLUX_INLINE std::string client::endpoint() const {
  return detail::s3::dialect_of(*core_).endpoint().to_string();
}
DATAFLUX_INLINE const counters& client::totals() const noexcept { return core_->totals; }
DATAFLUX_INLINE client_snapshot client::snapshot() const { return core_->look(); }

DATAFLUX_INLINE store_traits client::traits() const noexcept {
  return {.scheme = detail::s3::dialect_of(*core_).scheme(),
          .max_object_size = detail::s3::greatest_object,
          .max_compose_sources = 0,
          .moves = false,
          .conditional_complete = detail::s3::dialect_of(*core_).how().conditional_writes,
          .ordered_generations = false,
          .crc32c_everywhere = false};
}
DATAFLUX_INLINE scheduler& client::executor() noexcept {
  return core_->transport().next_executor();
}

DATAFLUX_INLINE void client::start(const read_request& request, byte_sink& sink,
                                   completion<read_summary> done) {
  detail::s3::read_call<detail::s3::read_verb>::start(core_, request, sink, std::move(done));
}
DATAFLUX_INLINE void client::start(const compose_request&, completion<object_metadata> done) {
  detail::s3::refuse(*core_, "compose: write the object by a multipart upload", std::move(done));
}
DATAFLUX_INLINE void client::start(const move_request&, completion<object_metadata> done) {
  detail::s3::refuse(*core_, "move: copy the object and remove the source", std::move(done));
}
template <class Request>
void client::begin(const Request& request, completion<typename Request::value> done) {
  using verb = typename detail::service::verb_of<Request, detail::s3::verbs>::type;
  detail::s3::verb_call<verb>::start(core_, request, std::move(done));
}

}  // namespace dataflux::inline DATAFLUX_ABI::s3
