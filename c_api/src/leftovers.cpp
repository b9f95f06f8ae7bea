#include "operation.hpp"

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/transfer/detail/age.hpp>
#include <dataflux/transfer/leftovers.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace dataflux_c {

namespace {

using dataflux::leftover;
using dataflux::leftover_kind;
using dataflux::leftover_verdict;

const char* name_of(leftover_kind kind) noexcept {
  switch (kind) {
    case leftover_kind::upload:
      return "upload";
    case leftover_kind::temporary_object:
      return "temporary_object";
    case leftover_kind::composite:
      break;
  }
  return "composite";
}
const char* name_of(leftover_verdict verdict) noexcept {
  switch (verdict) {
    case leftover_verdict::stale:
      return "stale";
    case leftover_verdict::young:
      return "young";
    case leftover_verdict::foreign:
      return "foreign";
    case leftover_verdict::failed:
      break;
  }
  return "failed";
}

void put_row(dataflux::detail::codec::json_writer& w, const leftover& row,
             dataflux::timestamp now) {
  w.begin_object();
  w.key("kind").string(name_of(row.kind)).key("verdict").string(name_of(row.verdict));
  w.key("target").string(row.target).key("whole_target").boolean(row.whole_target);
  w.key("name").string(row.name);
  if (!row.upload_id.empty()) {
    w.key("upload_id").string(row.upload_id);
  } else {
    w.key("generation").decimal_string(row.generation).key("size").natural(row.size);
    w.key("noncurrent").boolean(row.noncurrent);
  }
  if (row.began) {
    const auto age =
        std::chrono::duration_cast<std::chrono::seconds>(dataflux::detail::age_of(*row.began, now));
    w.key("began").string(dataflux::to_string(*row.began));
    w.key("age_seconds").integer(age.count());
  }
  if (row.failure) w.key("error").string(row.failure->to_string());
  w.end_object();
}

class leftovers_operation final : public typed_operation<dataflux::leftovers_report> {
 public:
  using typed_operation::typed_operation;

 protected:
  void describe(dataflux_record& r) const override { r.size = value_->stale; }
  std::string make_json() const override {
    const auto now = std::chrono::time_point_cast<dataflux::timestamp::duration>(
        std::chrono::system_clock::now());
    dataflux::detail::codec::json_writer w;
    w.begin_object();
    w.key("stale").natural(value_->stale).key("stale_bytes").natural(value_->stale_bytes);
    w.key("young").natural(value_->young).key("foreign").natural(value_->foreign);
    w.key("failed").natural(value_->failed);
    w.key("rows").begin_array();
    for (const leftover& row : value_->rows) put_row(w, row, now);
    w.end_array().end_object();
    return std::move(w).take();
  }
};

result<dataflux::leftovers_request> leftovers_of(const dataflux_leftovers_options* given) {
  const auto o = options_of(given);
  if (!o) return o.error();
  if (o->bucket == nullptr) return missing("bucket");
  constexpr std::uint32_t all = DATAFLUX_LEFTOVERS_UPLOADS | DATAFLUX_LEFTOVERS_COMPOSITES;
  if ((o->kinds & ~all) != 0) {
    return error(errc::invalid_argument, "`kinds` names one that is not known");
  }
  const std::uint32_t kinds = o->kinds == 0 ? all : o->kinds;
  dataflux::leftovers_request r;
  r.bucket = o->bucket;
  r.prefix = text_of(o->prefix);
  r.uploads = (kinds & DATAFLUX_LEFTOVERS_UPLOADS) != 0;
  r.composites = (kinds & DATAFLUX_LEFTOVERS_COMPOSITES) != 0;
  if (o->older_than_ns != 0) r.older_than = duration_of(o->older_than_ns);
  r.limits.timeout = duration_of(o->timeout_ns);
  return r;
}

using submit_leftovers = dataflux::operation<dataflux::leftovers_report>(
    dataflux::object_store&, dataflux::leftovers_request);

dataflux_status begin_leftovers(submit_leftovers& submit, dataflux_client* client,
                                const dataflux_leftovers_options* options, dataflux_queue* queue,
                                std::uint64_t tag, dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    auto r = leftovers_of(options);
    if (!r) return std::move(r).error();
    return begin_operation<leftovers_operation>(
        client, queue, tag, out, [&](client_state& c) { return submit(*c.client, *std::move(r)); });
  });
}

}  // namespace

}  // namespace dataflux_c

void dataflux_leftovers_options_init(dataflux_leftovers_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_find_leftovers(dataflux_client* client,
                                        const dataflux_leftovers_options* options,
                                        dataflux_queue* queue, uint64_t tag,
                                        dataflux_operation** out, dataflux_error** err) {
  return dataflux_c::begin_leftovers(dataflux::submit_find_leftovers, client, options, queue, tag,
                                     out, err);
}

dataflux_status dataflux_remove_leftovers(dataflux_client* client,
                                          const dataflux_leftovers_options* options,
                                          dataflux_queue* queue, uint64_t tag,
                                          dataflux_operation** out, dataflux_error** err) {
  return dataflux_c::begin_leftovers(dataflux::submit_remove_leftovers, client, options, queue, tag,
                                     out, err);
}
