#include "main_job.hpp"

#include <dataflux/buffer.hpp>
#include <dataflux/byte_sink.hpp>
#include <dataflux/download/get_many.hpp>
#include <dataflux/list/fast_list.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "parallel.hpp"
#include "terminal/listing_progress.hpp"
#include "terminal/progress.hpp"

using dataflux::byte_range;
using dataflux::bytes_view;
using dataflux::errc;
using dataflux::error;
using dataflux::object_columns;
using dataflux::result;

namespace {

constexpr std::uint64_t part_size = std::uint64_t{32} << 20U;
constexpr std::uint64_t range_size = std::uint64_t{8} << 20U;
constexpr std::size_t parts_in_flight = 8;
constexpr std::size_t ranges_in_flight = 16;

result<void> compare_with_file(const std::filesystem::path& file, bytes_view bytes) {
  std::ifstream in(file, std::ios::binary);
  std::vector<char> original(bytes.size());
  in.read(original.data(), static_cast<std::streamsize>(original.size()));
  const bool same = in.gcount() == static_cast<std::streamsize>(bytes.size()) &&
                    std::memcmp(original.data(), bytes.data(), bytes.size()) == 0;
  if (same || (bytes.empty() && !in.bad())) return {};
  return error(errc::data_loss, "object and file differ: " + file.string());
}

}  // namespace

result<object_columns> list_all(dataflux::object_store& store, const main_job_options& job,
                                step_report& report) {
  listing_progress bar;
  auto listed = dataflux::fast_list(store, {.bucket = job.bucket,
                                            .prefix = job.prefix,
                                            .filter = {.skip_markers = false},
                                            .watcher = &bar,
                                            .limits = {.stop = job.stop}});
  if (!listed) return std::move(listed).error();
  report.objects = listed->summary.objects;
  report.bytes = listed->summary.bytes;
  report.seconds = bar.seconds();
  return std::move(listed->objects);
}

result<step_report> read_all(const dataflux::transfer_context& context, const main_job_options& job,
                             const object_columns& objects) {
  step_report report{.objects = objects.size()};
  for (std::size_t i = 0; i < objects.size(); ++i) report.bytes += objects.object_size(i);
  progress bar("reading objects", report.bytes);
  dataflux::getter items(context, job.bucket, objects.slice(0, objects.size()),
                         {.limits = {.stop = job.stop}});
  for (std::uint64_t read = 0; read < report.objects; ++read) {
    auto next = items.next();
    if (!next) return std::move(next).error();
    if (!*next) return error(errc::internal, "fewer items than objects");
    const dataflux::got_item& item = **next;
    if (item.failure) return *item.failure;
    if (!item.verified) return error(errc::data_loss, "no checksum to compare: " + item.object);
    bar.add(1, item.bytes.size());
    if (!job.original) continue;
    const auto same = compare_with_file(*job.original / item.object, item.bytes);
    if (!same) return same.error();
  }
  report.seconds = bar.seconds();
  return report;
}

result<step_report> write_checkpoint(dataflux::object_store& store, const main_job_options& job,
                                     bytes_view data) {
  progress bar("writing checkpoint", data.size());
  const dataflux::call_limits limits{.stop = job.stop};
  auto upload = store.multipart_initiate({.bucket = job.bucket,
                                          .object = job.checkpoint,
                                          .content_type = "application/octet-stream",
                                          .limits = limits});
  if (!upload) return std::move(upload).error();
  std::vector<dataflux::uploaded_part> parts((data.size() + part_size - 1) / part_size);
  auto written = run_parallel(parts.size(), parts_in_flight, [&](std::size_t i, auto done) {
    const std::uint64_t offset = i * part_size;
    const bytes_view piece = data.subspan(offset, std::min(part_size, data.size() - offset));
    store.start_upload_part({.bucket = job.bucket,
                             .object = job.checkpoint,
                             .upload_id = upload->upload_id,
                             .part_number = static_cast<std::uint32_t>(i + 1),
                             .data = piece,
                             .limits = limits},
                            [&, i, done, piece](auto part) {
                              if (!part) return done(std::move(part).error());
                              bar.add(0, piece.size());
                              parts[i] = std::move(*part);
                              done(result<void>{});
                            });
  });
  if (written) {
    const auto object = store.multipart_complete({.bucket = job.bucket,
                                                  .object = job.checkpoint,
                                                  .upload_id = upload->upload_id,
                                                  .parts = std::move(parts),
                                                  .limits = limits});
    if (object) return step_report{1, data.size(), bar.seconds()};
    written = object.error();
  }
  // Unfinished uploads are billed for ever: not even an interrupted run leaves one.
  const auto aborted = store.multipart_abort({.bucket = job.bucket,
                                              .object = job.checkpoint,
                                              .upload_id = upload->upload_id,
                                              .limits = {.timeout = std::chrono::seconds(30)}});
  error failure = written.error();
  if (!aborted && aborted.error().code() != errc::not_found) {
    failure.with_message(failure.message() +
                         "; the upload could not be aborted: " + aborted.error().message());
  }
  return failure;
}

result<step_report> read_checkpoint(dataflux::object_store& store, const main_job_options& job,
                                    bytes_view data) {
  const auto object =
      store.stat({.bucket = job.bucket, .object = job.checkpoint, .limits = {.stop = job.stop}});
  if (!object) return object.error();
  if (object->size != data.size()) return error(errc::data_loss, "the checkpoint's size changed");
  const dataflux::buffer_pool pool;
  const dataflux::buffer memory = pool.acquire(data.size());
  std::memset(memory.data(), 0, data.size());  // the bytes below are then the ones received
  progress bar("reading checkpoint", data.size());
  const std::size_t count = (data.size() + range_size - 1) / range_size;
  const auto read = run_parallel(count, ranges_in_flight, [&](std::size_t i, auto done) {
    const std::uint64_t offset = i * range_size;
    const std::uint64_t length = std::min(range_size, data.size() - offset);
    auto sink = std::make_shared<dataflux::span_sink>(memory.span().subspan(offset, length));
    store.start_read({.bucket = job.bucket,
                      .object = job.checkpoint,
                      .range = byte_range::span(offset, length),
                      .generation = object->generation,
                      .limits = {.stop = job.stop}},
                     *sink, [&, done, sink](auto got) {
                       if (!got) return done(std::move(got).error());
                       bar.add(0, got->bytes);
                       done(result<void>{});
                     });
  });
  if (!read) return read.error();
  const step_report report{1, data.size(), bar.seconds()};
  if (std::memcmp(memory.data(), data.data(), data.size()) != 0) {
    return error(errc::data_loss, "the checkpoint read back differs from the one written");
  }
  return report;
}
