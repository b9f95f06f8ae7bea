#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/detail/or_default.hpp>
#include <dataflux/exec/detail/blocking_worker.hpp>
#include <dataflux/exec/detail/call_clock.hpp>
#include <dataflux/exec/detail/fork.hpp>
#include <dataflux/s3/client.hpp>
#include <dataflux/s3/detail/dialect.hpp>
#include <dataflux/s3/detail/join_call.hpp>
#include <dataflux/s3/detail/keys_signer.hpp>
#include <dataflux/s3/detail/sign_call.hpp>
#include <dataflux/s3/detail/verbs.hpp>
#include <dataflux/service/detail/client_core.hpp>
#include <dataflux/service/detail/verb_of.hpp>

#include <algorithm>
#include <memory>
#include <optional>
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

inline result<s3::endpoint> endpoint_of(const client_options& o, const aws_credentials& who) {
  return endpoint::make(
      {o.endpoint.empty() ? who.endpoint : o.endpoint, o.addressing, o.dual_stack, o.fips});
}

/// As whom, and where.
inline result<aws_credentials> identity_of(const client_options& o) {
  aws_credentials who{o.credentials, o.region, {}};
  const auth::environment& machine = auth::process_environment();
  if (!who.credentials) {
    auto found = find_aws_credentials({.region = o.region});
    if (!found) return std::move(found).error();
    who = *std::move(found);
  } else {
    who.endpoint = auth::endpoint_of_variables(machine, "AWS_ENDPOINT_URL_S3").given.value_or("");
  }
  if (who.region.empty()) who.region = auth::region_of_variables(machine).value_or("us-east-1");
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

inline result<void> check_options(const client_options& o) {
  if (o.copy_at_once != 0 &&
      (o.copy_at_once < 2 * least_joined_part || o.copy_at_once > greatest_at_once)) {
    return error(errc::invalid_argument, "copy_at_once " + std::to_string(o.copy_at_once) +
                                             ": 10485760 (10 MiB) to 5368709120 (5 GiB)");
  }
  http::header_list check;
  check.add("user_agent", o.user_agent);
  if (check.valid()) return {};
  return error(errc::invalid_argument, "user_agent has a line break or a zero byte");
}

/// The condition that decides what becomes of a call; null = none.
inline constexpr kept_condition no_condition = nullptr;
inline kept_condition condition_of(const remove_request& r) {
  return r.generation != 0 || r.conditions.any() ? &kept_conditions::removals : no_condition;
}
inline kept_condition condition_of(const remove_many_request& r) {
  const bool any = std::any_of(r.objects.begin(), r.objects.end(),
                               [](const removal_target& each) { return !each.etag.empty(); });
  return any ? &kept_conditions::lists : no_condition;
}
inline kept_condition condition_of(const multipart_initiate_request& r) {
  return r.conditional ? &kept_conditions::writes : no_condition;
}
inline kept_condition condition_of(const rewrite_request& r) {
  return r.conditions.any() ? &kept_conditions::copies : no_condition;
}
template <class Request>
requires std::is_same_v<decltype(Request::conditions), preconditions> &&
    std::is_same_v<typename Request::value, object_metadata>
        kept_condition condition_of(const Request& r) {
  return r.conditions.any() ? &kept_conditions::writes : no_condition;
}

inline const std::string& object_of(const remove_many_request& r) { return r.objects[0].object; }
template <class Request>
const std::string& object_of(const Request& r) {
  return r.object;
}

inline join_request join_of(const compose_request& r) {
  join_request out{.bucket = r.bucket,
                   .object = r.object,
                   .attributes = r.attributes,
                   .crc32c = r.crc32c,
                   .conditions = r.conditions,
                   .limits = r.limits};
  for (const compose_source& each : r.sources) {
    out.sources.push_back({r.bucket, each.object, each.generation, {}});
  }
  return out;
}

inline join_request join_of(const rewrite_request& r) {
  return {.sources = {{r.source_bucket, r.source, r.source_generation, r.source_conditions}},
          .bucket = r.bucket,
          .object = r.object,
          .attributes = r.attributes,
          .keeps_attributes = true,
          .conditions = r.conditions,
          .limits = r.limits};
}

inline void start_join(const ref<service::client_core>& core, join_request what,
                       object_store::completion<object_metadata> done) {
  std::make_shared<join_call>(core, std::move(what), std::move(done))->start();
}

template <class Request>
void end_with(service::client_core& core, const Request& request, error why,
              object_store::completion<typename Request::value> done);

/// By one request; and by parts where the source is too large for that, in what is left of the
/// time.
inline void start_copy(const ref<service::client_core>& core, const rewrite_request& request,
                       object_store::completion<object_metadata> done) {
  const call_clock clock(core->transport().next_executor(), request.limits);
  verb_call<copy_verb>::start(
      core, request,
      [core, request = rewrite_request(request), clock, done = std::move(done)](auto made) mutable {
        const bool large = !made && made.error().reason() == too_large_reason;
        if (!large) return done(std::move(made));
        if (auto bad = other_keys(request)) {
          return end_with(*core, request, *std::move(bad), std::move(done));
        }
        request.limits = clock.limits(request.limits.stop);
        start_join(core, join_of(request), std::move(done));
      });
}

/// What the error of a request is about.
template <class Request>
error named(error why, const Request& request) {
  std::string_view verb{"compose"};
  if constexpr (requires { typename service::verb_of<Request, verbs>::type; }) {
    verb = service::verb_of<Request, verbs>::type::info.name;
  } else if constexpr (std::is_same_v<Request, move_request>) {
    verb = "move";
  }
  if (why.verb().empty()) why.with_verb(verb);
  return std::move(
      why.with_scheme("s3").with_bucket(request.bucket).with_object(object_of(request)));
}

/// Ends the call later, not inside; but in the child of a fork, where nothing runs later.
template <class Request>
void end_with(service::client_core& core, const Request& request, error why,
              object_store::completion<typename Request::value> done) {
  if (core.forked()) return done(named(forked_error("client"), request));
  core.transport().next_executor().post(
      [why = named(std::move(why), request), done = std::move(done)]() mutable {
        done(std::move(why));
      });
}

/// What becomes of a call whose condition the server does not keep, of what it keeps.
template <class Request>
void start_unkept(const ref<service::client_core>& core, const Request& request,
                  const kept_conditions& kept,
                  object_store::completion<typename Request::value> done) {
  if constexpr (std::is_same_v<Request, rewrite_request>) {
    if (auto bad = other_keys(request)) {
      return end_with(*core, request, *std::move(bad), std::move(done));
    }
    if (kept.writes.value_or(false)) return start_join(core, join_of(request), std::move(done));
  }
  if constexpr (std::is_same_v<Request, remove_many_request>) {
    return end_with(*core, request,
                    error{errc::unimplemented, "the server keeps no conditions here"},
                    std::move(done));
  }
  constexpr bool removes = std::is_same_v<Request, remove_request>;
  end_with(*core, request, not_kept(removes), std::move(done));
}

/// What becomes of a call if nobody can say whether the server keeps its condition. The caller does
/// not know the question's object.
template <class Request>
error not_asked(error why, const Request& request) {
  if (!why.object().empty()) {
    why.with_message("whether this server keeps conditions is asked by a scratch object, " +
                     why.object() + ", and that failed: " + why.message());
  }
  return named(std::move(why), request);
}

/// Calls `go(core, request, done)`, after it is known that the server keeps the request's
/// condition.
template <class Request, class Go>
void start_known(const ref<service::client_core>& core, const Request& request,
                 object_store::completion<typename Request::value> done, Go go) {
  const auto wanted = condition_of(request);
  const dialect& how = dialect_of(*core);
  // In the child of a fork the book's lock may be held for ever.
  const bool asks = wanted != nullptr && how.how().asks_for_conditions && !core->forked();
  if (!asks || !validate(request)) return go(core, request, std::move(done));
  if (const auto known = how.conditions().find(request.bucket, wanted)) {
    return *((*known).*wanted) ? go(core, request, std::move(done))
                               : start_unkept(core, request, *known, std::move(done));
  }
  scheduler& on = core->transport().next_executor();
  const call_clock clock(on, request.limits);
  auto answered = [core, wanted, clock, request = Request(request), done = std::move(done),
                   go](result<kept_conditions> known) mutable {
    request.limits = clock.limits(request.limits.stop);
    // What need not go by a list is asked again for each.
    constexpr bool is_list = std::is_same_v<Request, remove_many_request>;
    if (!known && !is_list) return done(not_asked(std::move(known).error(), request));
    const bool kept = known && *((*known).*wanted);
    kept ? go(core, request, std::move(done))
         : start_unkept(core, request, known ? *known : kept_conditions{}, std::move(done));
  };
  how.conditions().ask({.core = core,
                        .bucket = request.bucket,
                        .object = object_of(request),
                        .about = wanted,
                        .on = on,
                        .limits = request.limits},
                       std::move(answered));
}

/// For a verb that S3 lacks.
template <class Request>
void refuse(service::client_core& core, const Request& request, std::string_view what,
            object_store::completion<typename Request::value> done) {
  end_with(core, request, error{errc::unimplemented, std::string{"S3 has no "}.append(what)},
           std::move(done));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

namespace dataflux::inline DATAFLUX_ABI::s3 {

DATAFLUX_INLINE client::client(detail::ref<detail::service::client_core> core) noexcept
    : core_(std::move(core)) {}

DATAFLUX_INLINE result<std::shared_ptr<client>> client::create(client_options options) {
  auto identity = detail::s3::identity_of(options);
  if (!identity) return std::move(identity).error();
  auto where = detail::s3::endpoint_of(options, *identity);
  if (!where) return std::move(where).error();
  if (auto good = detail::s3::check_options(options); !good) return std::move(good).error();
  auto hidden = detail::s3::check_key(options.encryption_key, *where, identity->region);
  if (!hidden) return std::move(hidden).error();
  std::shared_ptr<detail::http::transport> transport =
      std::exchange(options.shared_transport, nullptr);
  if (transport == nullptr) {
    auto made = curl_transport::create(options.transport);
    if (!made) return std::move(made).error();
    transport = std::move(*made);
  }
  const detail::s3::dialect::settings how{
      .requester_pays = options.requester_pays,
      .asks_for_conditions = !where->is_aws(),
      .removals_at_once =
          where->is_aws() ? detail::s3::greatest_removal : detail::s3::usual_removal,
      .uploads = options.upload_checksum,
      .copy_at_once = detail::or_default(options.copy_at_once, detail::s3::greatest_at_once),
      .key = options.encryption_key};
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
DATAFLUX_INLINE result<void> client::limit_rate(std::string_view bucket, std::string_view kind,
                                                double rate) {
  return core_->limit_rate(bucket, kind, rate);
}

DATAFLUX_INLINE store_traits client::traits() const noexcept {
  return {.scheme = detail::s3::dialect_of(*core_).scheme(),
          .max_object_size = detail::s3::greatest_object,
          .max_compose_sources = 0,
          .moves = false,
          .conditional_complete = true,
          .ordered_generations = false,
          .crc32c_everywhere = false,
          .customer_key = !detail::s3::dialect_of(*core_).how().key.empty(),
          .ranges_tell_checksum = false,
          .max_removals = detail::s3::dialect_of(*core_).how().removals_at_once,
          .lists_metadata = false,
          .lists_versions = false};
}
DATAFLUX_INLINE scheduler& client::executor() noexcept {
  return core_->transport().next_executor();
}

DATAFLUX_INLINE void client::start(const read_request& request, byte_sink& sink,
                                   completion<read_summary> done) {
  detail::s3::read_call<detail::s3::read_verb>::start(core_, request, sink, std::move(done));
}
DATAFLUX_INLINE void client::start(const compose_request& request,
                                   completion<object_metadata> done) {
  auto good = validate(request);
  if (core_->forked() || !good) {
    error why = good ? detail::forked_error("client") : std::move(good).error();
    return detail::s3::end_with(*core_, request, std::move(why), std::move(done));
  }
  detail::s3::start_known(core_, request, std::move(done),
                          [](const auto& core, const compose_request& r, auto end) {
                            detail::s3::start_join(core, detail::s3::join_of(r), std::move(end));
                          });
}
DATAFLUX_INLINE void client::start(const rewrite_request& request,
                                   completion<object_metadata> done) {
  detail::s3::start_known(core_, request, std::move(done),
                          [](const auto& core, const rewrite_request& r, auto end) {
                            detail::s3::start_copy(core, r, std::move(end));
                          });
}
DATAFLUX_INLINE void client::start(const sign_url_request& request, completion<signed_url> done) {
  detail::s3::start_signing(core_, request, std::move(done));
}
DATAFLUX_INLINE void client::start(const move_request& request, completion<object_metadata> done) {
  detail::s3::refuse(*core_, request, "move: copy the object and remove the source",
                     std::move(done));
}
template <class Request>
void client::begin(const Request& request, completion<typename Request::value> done) {
  using verb = typename detail::service::verb_of<Request, detail::s3::verbs>::type;
  const auto go = [](const auto& core, const Request& r, auto end) {
    detail::s3::verb_call<verb>::start(core, r, std::move(end));
  };
  if constexpr (requires { detail::s3::condition_of(request); } &&
                !std::is_same_v<Request, stat_request>) {
    detail::s3::start_known(core_, request, std::move(done), go);
  } else {
    go(core_, request, std::move(done));
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::s3
