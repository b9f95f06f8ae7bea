#include "boundary.hpp"
#include "client.hpp"

#include <dataflux/detail/or_default.hpp>
#include <dataflux/service/detail/job_share.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

using dataflux_c::errc;
using dataflux_c::error;
using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;
using dataflux_c::usable;
namespace service = dataflux::detail::service;

struct dataflux_job : dataflux_c::handle {
  explicit dataflux_job(service::job_share_options options)
      : share(options, std::chrono::steady_clock::now()) {}
  service::job_share share;
};

namespace {

/// A beat makes a number for each of them.
constexpr std::uint32_t most_processes = 1U << 20U;

result<service::job_share_options> job_options_of(const dataflux_job_options* given) {
  const auto o = dataflux_c::options_of(given);
  if (!o) return o.error();
  const std::uint32_t processes = dataflux::detail::or_default(o->processes, std::uint32_t{1});
  if (o->rank >= processes) {
    return error(errc::invalid_argument, "rank: " + std::to_string(o->rank) + " of " +
                                             std::to_string(processes) +
                                             ": ranks are counted from 0");
  }
  if (processes > most_processes) {
    return error(errc::invalid_argument, "processes: a job has at most 1048576");
  }
  for (const double rate : {o->reads, o->writes}) {
    if (std::isfinite(rate) && rate >= 0 && (rate == 0 || (rate >= 1 && rate <= 1e9))) continue;
    return error(errc::invalid_argument, "reads, writes: rates are from 1 to 1e9 a second");
  }
  if (o->lease_ns < 0) return error(errc::invalid_argument, "lease_ns: it is not negative");
  return service::job_share_options{.rank = o->rank,
                                    .processes = processes,
                                    .reads = o->reads,
                                    .writes = o->writes,
                                    .lease = dataflux_c::duration_of(o->lease_ns)};
}

result<dataflux_c::client_state*> job_client(const dataflux_job* job,
                                             const dataflux_client* client) {
  if (auto good = usable(job, "job"); !good) return std::move(good).error();
  if (auto good = usable(client, "client"); !good) return std::move(good).error();
  if (client->state->closed()) return dataflux_c::closed_error("client");
  return client->state.get();
}

/// Buckets that are used later, too.
result<void> limit_new(const dataflux_c::client_state& client, double reads, double writes) {
  for (const auto& [kind, rate] :
       {std::pair{"read", reads}, std::pair{"metadata", reads}, std::pair{"write", writes}}) {
    if (auto done = client.limit_rate({}, kind, rate); !done) return done;
  }
  return {};
}

}  // namespace

void dataflux_job_options_init(dataflux_job_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_job_create(const dataflux_job_options* options, dataflux_job** out,
                                    dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    const auto o = job_options_of(options);
    if (!o) return o.error();
    *out = new dataflux_job(*o);
    return {};
  });
}

dataflux_status dataflux_job_beat(dataflux_job* job, dataflux_client* client,
                                  const char* const* records, size_t count, char** out,
                                  dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (records == nullptr && count != 0) return missing("records");
    const auto state = job_client(job, client);
    if (!state) return state.error();
    const dataflux::time_point now = std::chrono::steady_clock::now();
    for (const char* const record : std::span(records, count)) {
      if (record != nullptr) job->share.saw(record, now);
    }
    const dataflux::client_snapshot seen = (*state)->snapshot();
    for (const service::job_limit& each : job->share.beat(seen.pacing, now)) {
      if (auto done = (*state)->limit_rate(each.bucket, each.kind, each.rate); !done) return done;
    }
    auto done = limit_new(**state, job->share.first_limit(false), job->share.first_limit(true));
    if (!done) return done;
    *out = dataflux_c::text_for_caller(job->share.record());
    return {};
  });
}

dataflux_status dataflux_job_living(const dataflux_job* job, uint32_t* count, uint32_t* lowest,
                                    dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (count == nullptr || lowest == nullptr)
      return missing(count == nullptr ? "count" : "lowest");
    *count = *lowest = 0;
    if (auto good = usable(job, "job"); !good) return good;
    *count = job->share.living();
    *lowest = job->share.lowest();
    return {};
  });
}

dataflux_status dataflux_job_leave(dataflux_job* job, dataflux_client* client,
                                   dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    const auto state = job_client(job, client);
    if (!state) return state.error();
    if (auto done = limit_new(**state, 0, 0); !done) return done;
    for (const dataflux::pacing_snapshot& lane : (*state)->snapshot().pacing) {
      auto done = (*state)->limit_rate(lane.bucket, lane.kind, 0);
      if (!done) return done;
    }
    return {};
  });
}

void dataflux_job_free(dataflux_job* job) { dataflux_c::free_handle(job); }
