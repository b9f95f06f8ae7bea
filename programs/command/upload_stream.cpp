#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/folder/copy_folder.hpp>

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "copy_job.hpp"

namespace cli {

using dataflux::checkpoint_writer;
using dataflux::errc;
using dataflux::error;
using dataflux::result;

namespace {

/// What is there, at least a byte; nothing at the end of the input. Checks ten times a second
/// whether to stop, since nothing else ends a wait for input.
result<std::size_t> read_some(int descriptor, dataflux::bytes_span into,
                              const std::stop_token& stop) {
  for (;;) {
    if (stop.stop_requested()) return error(errc::cancelled, "stopped");
    ::pollfd input{descriptor, POLLIN, 0};
    const int there = ::poll(&input, 1, 100);
    if (there == 0 || (there < 0 && errno == EINTR)) continue;
    const auto got = ::read(descriptor, into.data(), into.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return file_error("input", errno);
    return static_cast<std::size_t>(got);
  }
}

/// How much it was.
result<std::uint64_t> copy_all(const copy_job& job, int descriptor, checkpoint_writer& writer) {
  std::vector<std::byte> memory(std::size_t{1} << 20U);
  std::uint64_t size = 0;
  for (;;) {
    const auto got = read_some(descriptor, memory, job.with.stop);
    if (!got) return got.error();
    if (*got == 0) return size;
    if (auto written = writer.write(dataflux::bytes_view(memory).first(*got)); !written)
      return std::move(written).error();
    size += *got;
    job.report.moved(*got);
  }
}

}  // namespace

result<std::uint64_t> upload_stream(const copy_job& job, int descriptor, const std::string& bucket,
                                    const std::string& object) {
  constexpr std::uint64_t part_size = std::uint64_t{16} << 20U;
  orphan_notice orphans(job);
  dataflux::upload_request request;
  request.bucket = bucket;
  request.object = object;
  request.attributes = job.attributes;
  if (request.attributes.content_type.empty()) {
    request.attributes.content_type = std::string(dataflux::content_type_of(object));
  }
  request.if_generation_match =
      job.options.no_clobber ? std::optional<std::int64_t>(0) : job.options.if_generation;
  request.part_size = part_size;
  request.observer = &orphans;
  request.limits.stop = job.with.stop;
  auto writer = checkpoint_writer::open(job.with.transfers, std::move(request));
  if (!writer) return writer.error();
  const auto copied = copy_all(job, descriptor, *writer);
  if (!copied) {
    const auto aborted = writer->abort();
    return aborted ? copied.error() : aborted.error();
  }
  const auto made = writer->commit();
  if (!made) return made.error();
  if (!made->fallback.empty()) {
    job.report.note("not uploaded in the safest way: " + made->fallback);
  }
  return *copied;
}

}  // namespace cli
