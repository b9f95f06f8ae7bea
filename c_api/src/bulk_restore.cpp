#include "object.hpp"

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/store/restore_request.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace dataflux_c {

namespace {

void describe(const dataflux::restored_objects& report, dataflux_record& r) {
  r.size = report.restored;
}
std::string json_of(const dataflux::restored_objects& report) {
  dataflux::detail::codec::json_writer w;
  w.begin_object().key("operation").string(report.operation);
  w.key("restored").natural(report.restored);
  w.key("skipped").natural(report.skipped);
  w.key("failed").natural(report.failed);
  w.end_object();
  return std::move(w).take();
}
using bulk_restore_operation = report_operation<dataflux::restored_objects, describe, json_of>;

result<dataflux::bulk_restore_request> restore_of(const dataflux_bulk_restore_options* given) {
  const auto o = options_of(given);
  if (!o) return o.error();
  if (o->bucket == nullptr) return missing("bucket");
  if (o->match_globs == nullptr && o->match_glob_count > 0) return missing("match_globs");
  dataflux::bulk_restore_request r;
  r.bucket = o->bucket;
  for (std::size_t i = 0; i < o->match_glob_count; ++i) {
    if (o->match_globs[i] == nullptr) return missing("one of the match_globs");
    r.match_globs.emplace_back(o->match_globs[i]);
  }
  r.deleted_after = time_of(o->deleted_after_ns);
  r.deleted_before = time_of(o->deleted_before_ns);
  r.created_after = time_of(o->created_after_ns);
  r.created_before = time_of(o->created_before_ns);
  r.overwrite = o->overwrite != 0;
  r.limits.timeout = duration_of(o->timeout_ns);
  return r;
}

}  // namespace

}  // namespace dataflux_c

void dataflux_bulk_restore_options_init(dataflux_bulk_restore_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_bulk_restore(dataflux_client* client,
                                      const dataflux_bulk_restore_options* options,
                                      dataflux_queue* queue, uint64_t tag, dataflux_operation** out,
                                      dataflux_error** err) {
  return dataflux_c::guarded(err, [&]() -> dataflux_c::result<void> {
    if (out != nullptr) *out = nullptr;
    return dataflux_c::begin_call<dataflux_c::bulk_restore_operation>(
        client, dataflux_c::restore_of(options), queue, tag, out);
  });
}
