#include <dataflux/checkpoint/writer.hpp>

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "content_type.hpp"
#include "upload.hpp"

namespace cli {

using dataflux::checkpoint_writer;
using dataflux::errc;
using dataflux::error;
using dataflux::result;

namespace {

/// What is there, at least a byte; nothing at the end of the input. Looks ten times a second
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

result<void> copy_all(job& from, int descriptor, checkpoint_writer& writer) {
  const auto memory = from.memory.acquire(std::size_t{1} << 20U);
  for (;;) {
    const auto got = read_some(descriptor, memory.span(), from.stop);
    if (!got) return got.error();
    if (*got == 0) return {};
    if (auto written = writer.write(memory.span().first(*got)); !written) return written;
    from.report.moved(*got);
  }
}

}  // namespace

result<void> upload_stream(job& from, const dataflux::transfer_context& transfers, int descriptor,
                           const std::string& bucket, const std::string& object) {
  stray_notice strays(from);
  dataflux::object_upload_request request;
  request.bucket = bucket;
  request.object = object;
  request.content_type = std::string(content_type_of(object));
  request.part_size = usual_part_size;
  request.watcher = &strays;
  request.limits.stop = from.stop;
  auto writer = checkpoint_writer::open(transfers, std::move(request));
  if (!writer) return writer.error();
  if (auto copied = copy_all(from, descriptor, *writer); !copied) {
    const auto aborted = writer->abort();
    return aborted ? copied : aborted;
  }
  const auto made = writer->commit();
  if (!made) return made.error();
  if (!made->fallback.empty()) {
    from.report.note("not uploaded in the safest way: " + made->fallback);
  }
  return {};
}

}  // namespace cli
