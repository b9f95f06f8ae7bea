#include "main_job.hpp"

#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/list/fast_list.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

#include "terminal/listing_progress.hpp"
#include "terminal/progress.hpp"

using dataflux::bytes_view;
using dataflux::errc;
using dataflux::error;
using dataflux::object_columns;
using dataflux::result;

namespace {

/// For the progress to show.
constexpr std::size_t piece_size = std::size_t{4} << 20U;
constexpr std::size_t restored_at_once = std::size_t{128} << 20U;

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
                                            .observer = &bar,
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
  dataflux::getter items(context, {.bucket = job.bucket, .limits = {.stop = job.stop}},
                         objects.slice(0, objects.size()));
  for (std::uint64_t read = 0; read < report.objects; ++read) {
    auto next = items.next();
    if (!next) return std::move(next).error();
    if (!*next) return error(errc::internal, "fewer items than objects");
    const dataflux::got_item& item = **next;
    if (item.failure) return *item.failure;
    if (!item.verified)
      return error(errc::data_loss, "no checksum to compare: " + item.object.str());
    bar.add(1, item.bytes.size());
    if (!job.original) continue;
    const auto same = compare_with_file(*job.original / item.object.view(), item.bytes);
    if (!same) return same.error();
  }
  report.seconds = bar.seconds();
  return report;
}

result<step_report> write_checkpoint(const dataflux::transfer_context& context,
                                     const main_job_options& job, bytes_view data) {
  progress bar("writing checkpoint", data.size());
  auto writer = dataflux::checkpoint_writer::open(
      context, {.bucket = job.bucket, .object = job.checkpoint, .limits = {.stop = job.stop}});
  if (!writer) return writer.error();
  for (std::size_t at = 0; at < data.size(); at += piece_size) {
    const bytes_view piece = data.subspan(at, std::min(piece_size, data.size() - at));
    if (auto written = writer->write(piece); !written) return written.error();
    bar.add(0, piece.size());
  }
  const auto made = writer->commit();
  if (!made) return made.error();
  return step_report{1, data.size(), bar.seconds()};
}

result<step_report> read_checkpoint(const dataflux::transfer_context& context,
                                    const main_job_options& job, bytes_view data) {
  auto reader = dataflux::checkpoint_reader::open(
      context, {.bucket = job.bucket, .object = job.checkpoint, .limits = {.stop = job.stop}});
  if (!reader) return reader.error();
  if (reader->size() != data.size()) return error(errc::data_loss, "the checkpoint's size changed");
  std::vector<std::byte> memory(data.size());
  progress bar("reading checkpoint", data.size());
  for (std::size_t at = 0; at < data.size(); at += restored_at_once) {
    const std::size_t size = std::min(restored_at_once, data.size() - at);
    const auto read =
        reader->read_at(at, dataflux::bytes_span(memory).subspan(at, size), {.stop = job.stop});
    if (!read) return read.error();
    bar.add(0, size);
  }
  if (!reader->verified())
    return error(errc::data_loss, "no checksum of the checkpoint to compare");
  const step_report report{1, data.size(), bar.seconds()};
  if (std::memcmp(memory.data(), data.data(), data.size()) != 0) {
    return error(errc::data_loss, "the checkpoint read back differs from the one written");
  }
  return report;
}
