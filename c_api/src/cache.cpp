#include "cache.hpp"

#include <dataflux/service/client_snapshot.hpp>

#include <string>
#include <utility>

using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;
using dataflux_c::usable;

void dataflux_cache_options_init(dataflux_cache_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_cache_open(const char* folder, const dataflux_cache_options* options,
                                    dataflux_cache** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (folder == nullptr) return missing("folder");
    const auto o = dataflux_c::options_of(options);
    if (!o) return o.error();
    auto opened = dataflux::disk_cache::open(folder, {.bytes = o->bytes, .min_free = o->min_free});
    if (!opened) return std::move(opened).error();
    *out = new dataflux_cache(*std::move(opened));
    return {};
  });
}

dataflux_status dataflux_cache_counters(const dataflux_cache* cache, char** out,
                                        dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (auto good = usable(cache, "cache"); !good) return good;
    *out = dataflux_c::text_for_caller(dataflux::detail::json_of(cache->what.counters()));
    return {};
  });
}

dataflux_status dataflux_cache_flush(const dataflux_cache* cache, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (auto good = usable(cache, "cache"); !good) return good;
    cache->what.flush();
    return {};
  });
}

void dataflux_cache_free(dataflux_cache* cache) { dataflux_c::free_handle(cache); }
