#include "events.hpp"
#include "json.hpp"
#include "object.hpp"
#include "operation.hpp"

#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/folder/copy_folder.hpp>
#include <dataflux/folder/copy_objects.hpp>
#include <dataflux/transfer/remove_objects.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dataflux_c {

namespace {

using dataflux::detail::codec::json_writer;

/// What all reports on names have.
template <class Report>
void describe(const Report& report, dataflux_record& r) {
  r.size = report.bytes;
  r.index = report.failed;
}
void write_name(json_writer& w, const dataflux::copy_failure& failure) {
  w.key("object").string(utf8_of(failure.object));
  const std::string shown = utf8_of(failure.path);
  w.key("path").string(shown);
  if (shown == failure.path) return;
  w.key("path_base64")
      .string(dataflux::detail::codec::encode_base64(dataflux::as_bytes(failure.path)));
}
void write_name(json_writer& w, const dataflux::failed_removal& failure) {
  w.key("object").string(utf8_of(failure.name));
}
template <class Report>
void write_failures(json_writer& w, const Report& report) {
  w.key("failed").natural(report.failed);
  w.key("failures").begin_array();
  for (const auto& each : report.failures) {
    w.begin_object();
    write_name(w, each);
    write_error(w, each.why);
    w.end_object();
  }
  w.end_array();
}

std::string json_of(const dataflux::copy_folder_report& report) {
  json_writer w;
  w.begin_object();
  w.key("found").natural(report.found);
  w.key("copied").natural(report.copied);
  w.key("bytes").natural(report.bytes);
  w.key("already_there").natural(report.already_there);
  w.key("folders").natural(report.folders);
  w.key("removed").natural(report.removed);
  write_failures(w, report);
  w.key("not_removed").string(utf8_of(report.not_removed));
  w.end_object();
  return std::move(w).take();
}
std::string json_of(const dataflux::removed_objects& report) {
  json_writer w;
  w.begin_object();
  w.key("objects").natural(report.objects);
  w.key("bytes").natural(report.bytes);
  w.key("young").natural(report.young);
  write_failures(w, report);
  w.end_object();
  return std::move(w).take();
}

using copy_operation = report_operation<dataflux::copy_folder_report, describe, json_of>;
using removal_operation = report_operation<dataflux::removed_objects, describe, json_of>;

result<std::vector<std::string>> texts_of(const char* const* given, std::size_t count,
                                          const char* what) {
  std::vector<std::string> out;
  if (count > 0 && given == nullptr) return missing(what);
  for (std::size_t i = 0; i < count; ++i) {
    if (given[i] == nullptr) return missing(what);
    out.emplace_back(given[i]);
  }
  return out;
}

result<dataflux::name_selection> selection_of(const dataflux_selection* given) {
  dataflux::name_selection out;
  if (given == nullptr) return out;
  const auto o = options_of(given);
  if (!o) return o.error();
  struct kind {
    const char* const* texts;
    std::size_t count;
    const char* what;
    std::vector<std::string>& to;
  };
  for (const kind& each : {kind{o->match, o->match_count, "one of match", out.match},
                           kind{o->names, o->name_count, "one of names", out.names},
                           kind{o->include, o->include_count, "one of include", out.include},
                           kind{o->exclude, o->exclude_count, "one of exclude", out.exclude}}) {
    auto texts = texts_of(each.texts, each.count, each.what);
    if (!texts) return std::move(texts).error();
    each.to = *std::move(texts);
  }
  out.min_size = o->min_size;
  if (o->max_size != 0) out.max_size = o->max_size;
  if (o->newer_than_ns != 0) {
    out.newer_than = dataflux::timestamp(std::chrono::nanoseconds(o->newer_than_ns));
  }
  return out;
}

result<dataflux::copy_on_error> on_error_of(std::uint32_t given) {
  if (given > DATAFLUX_ON_ERROR_STOP) {
    return error(errc::invalid_argument, "on_error is no DATAFLUX_ON_ERROR_*");
  }
  return given == DATAFLUX_ON_ERROR_STOP ? dataflux::copy_on_error::stop
                                         : dataflux::copy_on_error::go_on;
}

/// What both kinds of copies have: selection, attributes, what becomes of failures, limits.
template <class Options, class Request>
result<void> read_common(const Options& o, Request& r) {
  auto on_error = on_error_of(o.on_error);
  if (!on_error) return std::move(on_error).error();
  auto select = selection_of(o.select);
  if (!select) return std::move(select).error();
  if (o.attributes != nullptr) {
    auto attributes = attributes_of(o.attributes);
    if (!attributes) return std::move(attributes).error();
    r.attributes = *std::move(attributes);
  }
  r.on_error = *on_error;
  r.select = *std::move(select);
  r.no_clobber = o.no_clobber != 0;
  r.dry_run = o.dry_run != 0;
  r.delete_extra = o.delete_extra != 0;
  r.max_failures = static_cast<std::size_t>(o.max_failures);
  r.limits.timeout = duration_of(o.timeout_ns);
  return {};
}

result<dataflux::copy_objects_request> request_of(const dataflux_copy_objects_options& o) {
  if (o.source_bucket == nullptr) return missing("source_bucket");
  if (o.bucket == nullptr) return missing("bucket");
  dataflux::copy_objects_request r;
  if (auto good = read_common(o, r); !good) return std::move(good).error();
  r.source_bucket = o.source_bucket;
  r.source_prefix = text_of(o.source_prefix);
  r.bucket = o.bucket;
  r.prefix = text_of(o.prefix);
  r.only_changed = o.only_changed != 0;
  r.move = o.move != 0;
  return r;
}

result<dataflux::copy_folder_request> request_of(const dataflux_folder_options& o) {
  if (o.path == nullptr) return missing("path");
  if (o.bucket == nullptr) return missing("bucket");
  dataflux::copy_folder_request r;
  if (auto good = read_common(o, r); !good) return std::move(good).error();
  r.path = o.path;
  r.bucket = o.bucket;
  r.prefix = text_of(o.prefix);
  r.resume = o.resume != 0;
  r.by_time = o.by_time != 0;
  return r;
}

void watch_by(dataflux::copy_folder_request& r, client_state& c) { r.observer = c.events.get(); }
void watch_by(dataflux::copy_objects_request&, client_state&) {}

/// Copies by `start`.
template <class Options, class Start>
result<void> begin_copy(dataflux_client* client, const Options* options, const char* what,
                        dataflux_queue* queue, std::uint64_t tag, dataflux_operation** out,
                        Start start) {
  if (out != nullptr) *out = nullptr;
  const auto o = options_of(options);
  if (!o) return o.error();
  auto r = request_of(*o);
  if (!r) return std::move(r).error();
  const auto how_far = progress_of(client, o->progress != 0, tag, what, r->bucket, r->prefix);
  if (!how_far) return how_far.error();
  if (*how_far != nullptr) {
    r->found = [known = *how_far](std::uint64_t, std::uint64_t bytes) { known->expect(bytes); };
  }
  r->progress = adding_to(*how_far);
  return begin_operation<copy_operation>(client, queue, tag, out, [&](client_state& c) {
    watch_by(*r, c);
    return submit_told<dataflux::copy_folder_report>(
        r->limits, *how_far, [&](auto done) { start(c.context, *std::move(r), std::move(done)); },
        [](call_progress& progress, const auto&) { progress.end(); });
  });
}

result<dataflux::remove_objects_request> removal_of(const dataflux_remove_prefix_options& o) {
  if (o.bucket == nullptr) return missing("bucket");
  if (o.prefix == nullptr) return missing("prefix");
  dataflux::remove_objects_request r;
  r.bucket = o.bucket;
  r.prefix = o.prefix;
  r.for_good = o.for_good != 0;
  if (o.older_than_ns != 0) r.older_than = dataflux::duration(o.older_than_ns);
  r.dry_run = o.dry_run != 0;
  r.max_failures = static_cast<std::size_t>(o.max_failures);
  r.limits.timeout = duration_of(o.timeout_ns);
  return r;
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::client_state;
using dataflux_c::guarded;
using dataflux_c::result;

void dataflux_selection_init(dataflux_selection* selection, size_t size) {
  dataflux_c::init_options(selection, size);
}
void dataflux_copy_objects_options_init(dataflux_copy_objects_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}
void dataflux_folder_options_init(dataflux_folder_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}
void dataflux_remove_prefix_options_init(dataflux_remove_prefix_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_upload_folder(dataflux_client* client,
                                       const dataflux_folder_options* options,
                                       dataflux_queue* queue, uint64_t tag,
                                       dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&] {
    return dataflux_c::begin_copy(client, options, "upload", queue, tag, out,
                                  dataflux::start_upload_folder);
  });
}

dataflux_status dataflux_download_folder(dataflux_client* client,
                                         const dataflux_folder_options* options,
                                         dataflux_queue* queue, uint64_t tag,
                                         dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&] {
    return dataflux_c::begin_copy(client, options, "download", queue, tag, out,
                                  dataflux::start_download_folder);
  });
}

dataflux_status dataflux_copy_objects(dataflux_client* client,
                                      const dataflux_copy_objects_options* options,
                                      dataflux_queue* queue, uint64_t tag, dataflux_operation** out,
                                      dataflux_error** err) {
  return guarded(err, [&] {
    return dataflux_c::begin_copy(client, options, "copy", queue, tag, out,
                                  dataflux::start_copy_objects);
  });
}

dataflux_status dataflux_remove_prefix(dataflux_client* client,
                                       const dataflux_remove_prefix_options* options,
                                       dataflux_queue* queue, uint64_t tag,
                                       dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    const auto o = dataflux_c::options_of(options);
    if (!o) return o.error();
    auto r = dataflux_c::removal_of(*o);
    if (!r) return std::move(r).error();
    const auto how_far =
        dataflux_c::progress_of(client, o->progress != 0, tag, "remove", r->bucket, *r->prefix);
    if (!how_far) return how_far.error();
    if (*how_far != nullptr) {
      r->progress = [to = *how_far](const dataflux::removal_progress& p) { to->reach(p.objects); };
    }
    return dataflux_c::begin_operation<dataflux_c::removal_operation>(
        client, queue, tag, out, [&](client_state& c) {
          return dataflux_c::submit_told<dataflux::removed_objects>(
              r->limits, *how_far,
              [&](auto done) {
                dataflux::start_remove_objects(*c.client, *std::move(r), std::move(done));
              },
              [](auto& progress, const auto& gone) { progress.end(gone.objects + gone.failed); });
        });
  });
}
