#include "upload_small.hpp"

#include <dataflux/codec/crc32c.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

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
  bool looked{false};

  result<void> read() {
    const auto size = static_cast<std::size_t>(file.size);
    const auto descriptor = open_to_send(file);
    if (!descriptor) return descriptor.error();
    memory = from.memory.acquire(size + 1);
    // One byte more than is expected, to see that there is none.
    std::size_t read = 0;
    ::ssize_t got = 1;
    while (got > 0 && read <= size) {
      got = ::read(*descriptor, memory.data() + read, size + 1 - read);
      if (got > 0) read += static_cast<std::size_t>(got);
      if (got < 0 && errno == EINTR) got = 1;
    }
    const int why = errno;
    ::close(*descriptor);
    if (got < 0) return file_error(file.where->shown(file.name), why);
    if (read == size) return {};
    return file_error(file.where->shown(file.name), "its size changed while it was read");
  }

  bool is_there() const noexcept {
    const dataflux::bytes_view bytes(memory.data(), static_cast<std::size_t>(file.size));
    return file.there && dataflux::codec::crc32c(bytes) == *file.there;
  }
};

void replace(const std::shared_ptr<small_upload>& one);

/// In the place of `generation`, 0 for none: so that nobody else's object is overwritten, and the
/// client may repeat the request. In the place of anything where it is not known.
void send(const std::shared_ptr<small_upload>& one, std::optional<std::int64_t> generation) {
  const auto& file = one->file;
  const dataflux::insert_request request{
      .bucket = file.bucket,
      .object = file.object,
      .data = dataflux::bytes_view(one->memory.data(), static_cast<std::size_t>(file.size)),
      .content_type = std::string(content_type_of(file.object)),
      .conditions = {.if_generation_match = generation},
      .limits = {.stop = one->from.stop}};
  one->from.store.start_insert(request, [one](const result<object_metadata>& got) {
    job& from = one->from;
    if (got) return from.report.done(one->file.size, one->file.object);
    // Most targets have nothing yet; when one has, it is likely that others have, too. What a later
    // attempt meets may have been written meanwhile.
    const bool was_there = got.error().http_status() == 412 && got.error().attempts() == 1;
    if (was_there && !one->looked) {
      from.target_has_objects = true;
      return replace(one);
    }
    from.report.failed(got.error());
  });
}

/// Looks at what is there first.
void replace(const std::shared_ptr<small_upload>& one) {
  one->looked = true;
  const auto& file = one->file;
  one->from.store.start_stat(
      {.bucket = file.bucket, .object = file.object, .limits = {.stop = one->from.stop}},
      [one](const result<object_metadata>& there) {
        if (there) return send(one, there->generation);
        const auto why = there.error().code();
        if (why == errc::not_found) return send(one, 0);
        // Who may write need not be allowed to read.
        if (why == errc::permission_denied) return send(one, std::nullopt);
        one->from.report.failed(there.error());
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
      if (one->from.target_has_objects) return replace(one);
      send(one, 0);
    });
  });
}

}  // namespace cli
