#include "upload_small.hpp"

#include <dataflux/codec/crc32c.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "again.hpp"
#include "content_type.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::object_metadata;
using dataflux::result;

namespace {

/// The caller closes it.
result<int> open_to_send(const file_to_send& file) {
  const int descriptor =
      ::openat(file.where->descriptor(), file.name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return file_error(file.where->shown(file.name), errno);
  return descriptor;
}

struct small_upload {
  job& from;
  pipeline::item item;
  file_to_send file;
  dataflux::budget_share share{};
  dataflux::buffer memory{};

  result<void> read() {
    const auto size = static_cast<std::size_t>(file.size);
    const auto descriptor = open_to_send(file);
    if (!descriptor) return descriptor.error();
    memory = from.memory.acquire(size + 1);
    // One byte more than is expected, to see that there is none.
    ::ssize_t got = 0;
    do {
      got = ::pread(*descriptor, memory.data(), size + 1, 0);
    } while (got < 0 && errno == EINTR);
    const int why = errno;
    ::close(*descriptor);
    if (got < 0) return file_error(file.where->shown(file.name), why);
    if (static_cast<std::size_t>(got) == size) return {};
    return file_error(file.where->shown(file.name), "its size changed while it was read");
  }

  bool is_there() const noexcept {
    const dataflux::bytes_view bytes(memory.data(), static_cast<std::size_t>(file.size));
    return file.there && dataflux::codec::crc32c(bytes) == *file.there;
  }
};

void send(const std::shared_ptr<small_upload>& one) {
  const auto& file = one->file;
  dataflux::insert_request request{
      .bucket = file.bucket,
      .object = file.object,
      .data = dataflux::bytes_view(one->memory.data(), static_cast<std::size_t>(file.size)),
      .content_type = std::string(content_type_of(file.object)),
      .limits = {.stop = one->from.stop}};
  start_again(one->from, std::move(request), [one](result<object_metadata> got) {
    if (!got) return one->from.report.failed(got.error());
    one->from.report.done(one->file.size, one->file.object);
  });
}

}  // namespace

void upload_small(job& from, file_to_send file) {
  const auto one =
      std::make_shared<small_upload>(small_upload{from, from.flow.begin_item(), std::move(file)});
  from.flow.admit(static_cast<std::size_t>(one->file.size), [one](dataflux::budget_share share) {
    one->share = std::move(share);
    one->from.flow.on_file_thread([one] {
      outcome& report = one->from.report;
      if (one->from.ended()) return report.failed(error(errc::cancelled, "stopped"));
      if (auto read = one->read(); !read) return report.failed(read.error());
      if (one->is_there()) return report.done(one->file.size, one->file.object);
      send(one);
    });
  });
}

}  // namespace cli
