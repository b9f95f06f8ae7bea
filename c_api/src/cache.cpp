#include "cache.hpp"

#include <dataflux/codec/detail/json_writer.hpp>

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
    const dataflux::cache_counters now = cache->what.counters();
    dataflux::detail::codec::json_writer w;
    w.begin_object();
    w.key("hits").natural(now.hits);
    w.key("hit_bytes").natural(now.hit_bytes);
    w.key("misses").natural(now.misses);
    w.key("kept").natural(now.kept);
    w.key("kept_bytes").natural(now.kept_bytes);
    w.key("refused").natural(now.refused);
    w.key("evicted_bytes").natural(now.evicted_bytes);
    w.key("damaged").natural(now.damaged);
    w.key("errors").natural(now.errors);
    w.end_object();
    *out = dataflux_c::text_for_caller(w.text());
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
