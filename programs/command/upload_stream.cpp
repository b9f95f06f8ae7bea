#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/folder/copy_folder.hpp>

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
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

result<void> copy_all(const copy_job& job, int descriptor, checkpoint_writer& writer) {
  std::vector<std::byte> memory(std::size_t{1} << 20U);
  for (;;) {
    const auto got = read_some(descriptor, memory, job.with.stop);
    if (!got) return got.error();
    if (*got == 0) return {};
    if (auto written = writer.write(dataflux::bytes_view(memory).first(*got)); !written)
      return written;
    job.report.moved(*got);
  }
}

}  // namespace

result<void> upload_stream(const copy_job& job, int descriptor, const std::string& bucket,
                           const std::string& object) {
  constexpr std::uint64_t part_size = std::uint64_t{16} << 20U;
  orphan_notice orphans(job);
  dataflux::upload_request request;
  request.bucket = bucket;
  request.object = object;
  request.attributes.content_type = std::string(dataflux::content_type_of(object));
  request.part_size = part_size;
  request.observer = &orphans;
  request.limits.stop = job.with.stop;
  auto writer = checkpoint_writer::open(job.with.transfers, std::move(request));
  if (!writer) return writer.error();
  if (auto copied = copy_all(job, descriptor, *writer); !copied) {
    const auto aborted = writer->abort();
    return aborted ? copied : aborted;
  }
  const auto made = writer->commit();
  if (!made) return made.error();
  if (!made->fallback.empty()) {
    job.report.note("not uploaded in the safest way: " + made->fallback);
  }
  return {};
}

}  // namespace cli
