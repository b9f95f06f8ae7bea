#include "events.hpp"
#include "object.hpp"

#include <dataflux/checkpoint/upload_file.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/download/download_file.hpp>

#include <optional>
#include <string>
#include <utility>

namespace dataflux_c {

namespace {

void describe(const dataflux::downloaded_file& file, dataflux_record& r) {
  r.size = file.bytes;
  r.crc32c = file.crc32c;
  r.generation = file.generation;
  if (file.verified) r.flags |= DATAFLUX_RECORD_VERIFIED;
}
std::string json_of(const dataflux::downloaded_file& file) {
  dataflux::detail::codec::json_writer w;
  w.begin_object();
  w.key("bytes").natural(file.bytes);
  w.key("object_size").natural(file.object_size);
  w.key("generation").integer(file.generation);
  w.key("verified").boolean(file.verified);
  w.key("resumed").natural(file.resumed);
  w.end_object();
  return std::move(w).take();
}
using download_operation = report_operation<dataflux::downloaded_file, describe, json_of>;

void describe(const dataflux::uploaded_file& file, dataflux_record& r) {
  const dataflux::object_metadata& made = file.made.object;
  r.size = made.size;
  r.crc32c = made.crc32c.value_or(0);
  r.generation = made.generation;
  // An upload fails where the service's checksum is not that of the bytes.
  if (made.crc32c) r.flags |= DATAFLUX_RECORD_VERIFIED;
}
std::string json_of(const dataflux::uploaded_file& file) {
  const dataflux::committed_object& made = file.made;
  dataflux::detail::codec::json_writer w;
  w.begin_object();
  write_object(w.key("object"), made.object);
  w.key("upload_path").string(dataflux::to_string(made.path));
  w.key("commit_mode").string(dataflux::to_string(made.mode));
  w.key("fallback").string(made.fallback);
  w.key("resumed").natural(file.resumed);
  w.end_object();
  return std::move(w).take();
}
using upload_operation = report_operation<dataflux::uploaded_file, describe, json_of>;

/// What both kinds of options have: which object, and which file.
template <class Options>
result<Options> file_options_of(const Options* given) {
  const auto known = options_of(given);
  if (!known) return known.error();
  const Options& o = *known;
  if (o.bucket == nullptr) return missing("bucket");
  if (o.object == nullptr) return missing("object");
  if (o.path == nullptr) return missing("path");
  return o;
}

dataflux::byte_range range_of(std::uint64_t offset, std::uint64_t length) {
  return length == 0 ? dataflux::byte_range::from(offset)
                     : dataflux::byte_range::span(offset, length);
}

dataflux::download_file_request download_of(const dataflux_download_file_options& o) {
  dataflux::download_file_request r;
  r.bucket = o.bucket;
  r.object = o.object;
  r.path = o.path;
  r.generation = o.generation;
  r.range = range_of(o.offset, o.length);
  r.resume = o.resume != 0;
  r.flush = o.no_flush == 0;
  r.limits.timeout = duration_of(o.timeout_ns);
  return r;
}

result<dataflux::upload_file_request> upload_of(const dataflux_upload_file_options& o) {
  dataflux::upload_file_request r;
  if (auto good = put_target(o.attributes, o.conditions, r.upload); !good) {
    return std::move(good).error();
  }
  r.path = o.path;
  r.resume = o.resume != 0;
  r.upload.bucket = o.bucket;
  r.upload.object = o.object;
  r.upload.limits.timeout = duration_of(o.timeout_ns);
  return r;
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::client_state;
using dataflux_c::guarded;
using dataflux_c::result;

void dataflux_download_file_options_init(dataflux_download_file_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}
void dataflux_upload_file_options_init(dataflux_upload_file_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_download_file(dataflux_client* client,
                                       const dataflux_download_file_options* options,
                                       dataflux_queue* queue, uint64_t tag,
                                       dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    const auto o = dataflux_c::file_options_of(options);
    if (!o) return o.error();
    auto r = dataflux_c::download_of(*o);
    const auto how_far =
        dataflux_c::progress_of(client, o->progress != 0, tag, "download", r.bucket, r.object);
    if (!how_far) return how_far.error();
    r.progress = dataflux_c::adding_to(*how_far);
    return dataflux_c::begin_operation<dataflux_c::download_operation>(
        client, queue, tag, out, [&](client_state& c) {
          return dataflux_c::submit_told<dataflux::downloaded_file>(
              r.limits, *how_far,
              [&](auto done) {
                dataflux::start_download_file(c.context, std::move(r), std::move(done));
              },
              [](auto& progress, const auto& file) { progress.end(file.bytes); });
        });
  });
}

dataflux_status dataflux_upload_file(dataflux_client* client,
                                     const dataflux_upload_file_options* options,
                                     dataflux_queue* queue, uint64_t tag, dataflux_operation** out,
                                     dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    const auto o = dataflux_c::file_options_of(options);
    if (!o) return o.error();
    auto r = dataflux_c::upload_of(*o);
    if (!r) return std::move(r).error();
    const auto how_far = dataflux_c::progress_of(client, o->progress != 0, tag, "upload",
                                                 r->upload.bucket, r->upload.object);
    if (!how_far) return how_far.error();
    r->progress = dataflux_c::adding_to(*how_far);
    return dataflux_c::begin_operation<dataflux_c::upload_operation>(
        client, queue, tag, out, [&](client_state& c) {
          r->upload.observer = c.events.get();
          return dataflux_c::submit_told<dataflux::uploaded_file>(
              r->upload.limits, *how_far,
              [&](auto done) {
                dataflux::start_upload_file(c.context, *std::move(r), std::move(done));
              },
              [](auto& progress, const auto& file) { progress.end(file.made.object.size); });
        });
  });
}
