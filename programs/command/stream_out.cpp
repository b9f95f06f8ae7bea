#include "stream_out.hpp"

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/download_file.hpp>
#include <dataflux/download/getter.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "local_path.hpp"

namespace cli {

using dataflux::byte_range;
using dataflux::bytes_view;
using dataflux::errc;
using dataflux::error;
using dataflux::got_item;
using dataflux::result;

namespace {

/// Where bytes go, and how many of an object have gone.
struct output {
  int descriptor;
  outcome& report;
  bool compared;  ///< all of it, before anything is written
  std::uint64_t written{0};

  result<void> write(bytes_view bytes) {
    while (!bytes.empty()) {
      const auto taken = ::write(descriptor, bytes.data(), bytes.size());
      if (taken < 0 && errno == EINTR) continue;
      if (taken < 0) return file_error("output", errno);
      const auto some = static_cast<std::size_t>(taken);
      written += some;
      report.moved(some);
      bytes = bytes.subspan(some);
    }
    return {};
  }

  void end(const result<void>& how) {
    how ? report.done(0) : report.failed(how.error(), written, compared);
  }
};

result<void> copy_out(int from, output& to) {
  std::vector<std::byte> memory(std::size_t{1} << 20U);
  for (;;) {
    const auto got = ::read(from, memory.data(), memory.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error("what was received", errno);
    if (got == 0) return {};
    const auto some = static_cast<std::size_t>(got);
    if (auto out = to.write({memory.data(), some}); !out) return out;
  }
}

/// The extent slice by slice.
dataflux::get_source slices_of(const dataflux::object_metadata& object, dataflux::byte_extent left,
                               std::uint64_t slice) {
  dataflux::get_request whole;
  whole.object = object.name;
  whole.generation = object.generation;
  whole.object_size = object.size;
  whole.crc32c = object.crc32c;
  return [whole = std::move(whole), left, slice]() mutable -> std::optional<dataflux::get_request> {
    if (left.length == 0) return std::nullopt;
    const std::uint64_t length = std::min(slice, left.length);
    auto one = whole;
    one.range = byte_range::span(left.offset, length);
    left.offset += length;
    left.length -= length;
    return one;
  };
}

}  // namespace

result<void> for_each_slice(const dataflux::transfer_context& transfers,
                            const dataflux::object_metadata& object, const byte_range& range,
                            const std::stop_token& stop,
                            const std::function<result<void>(const got_item&)>& take) {
  const dataflux::byte_extent wanted = range.in(object.size);
  if (wanted.length == 0 && object.size > 0) {
    return error(errc::out_of_range, "the range is behind the object's end, which has " +
                                         std::to_string(object.size) + " bytes")
        .with_scheme(transfers.store().traits().scheme)
        .with_bucket(object.bucket)
        .with_object(object.name);
  }
  dataflux::getter slices(transfers, {.bucket = object.bucket, .limits = {.stop = stop}},
                          slices_of(object, wanted, transfers.options().slice));
  dataflux::crc32c_accumulator whole;
  while (true) {
    const auto slice = slices.next();
    if (!slice) return slice.error();
    if (!*slice) return {};
    const got_item& got = **slice;
    if (got.failure) return *got.failure;
    whole.append({got.crc32c, got.bytes.size()});
    // The last slice waits for this: whoever reads our output never gets all of a wrong object.
    if (whole.length() == object.size && object.crc32c && *object.crc32c != whole.crc()) {
      return error(errc::data_loss, "the bytes differ from the object's CRC32C")
          .with_scheme(transfers.store().traits().scheme)
          .with_bucket(object.bucket)
          .with_object(object.name);
    }
    if (auto out = take(got); !out) return out;
  }
}

void stream_out(const dataflux::transfer_context& transfers,
                const dataflux::object_metadata& object, const byte_range& range, int descriptor,
                outcome& report, const std::stop_token& stop) {
  const bool one_slice =
      object.crc32c && object.size <= transfers.options().slice && range == byte_range{};
  output to{descriptor, report, one_slice};
  to.end(for_each_slice(transfers, object, range, stop,
                        [&to](const got_item& got) { return to.write(got.bytes); }));
}

void member_out(const dataflux::transfer_context& transfers, dataflux::get_one_request what,
                int descriptor, outcome& report) {
  const auto got = dataflux::get_one(transfers, std::move(what));
  if (!got) return report.failed(got.error());
  output to{descriptor, report, false};
  to.end(to.write(got->bytes));
}

namespace {

error not_comparable(const dataflux::transfer_context& transfers,
                     const dataflux::object_metadata& object) {
  const bool small = object.size <= transfers.options().slice;
  error why(errc::failed_precondition,
            small ? "the service has no checksum of it to compare with"
                  : "the service has no CRC32C of it to compare with; without one --checked takes "
                    "objects of at most " +
                        std::to_string(transfers.options().slice) + " bytes");
  why.with_scheme(transfers.store().traits().scheme)
      .with_bucket(object.bucket)
      .with_object(object.name);
  return why;
}

}  // namespace

void checked_out(const dataflux::transfer_context& transfers,
                 const dataflux::object_metadata& object, int descriptor, outcome& report,
                 const std::stop_token& stop) {
  // One slice is compared before it is given.
  if (object.size <= transfers.options().slice) {
    output to{descriptor, report, true};
    return to.end(
        for_each_slice(transfers, object, {}, stop, [&](const got_item& got) -> result<void> {
          if (!object.crc32c && !got.verified) return not_comparable(transfers, object);
          return to.write(got.bytes);
        }));
  }
  if (!object.crc32c && !object.other_checksum) {
    return report.failed(not_comparable(transfers, object));
  }
  const char* const chosen = std::getenv("TMPDIR");
  std::string folder =
      below(chosen != nullptr && *chosen != '\0' ? chosen : "/tmp", "dataflux-XXXXXX");
  if (::mkdtemp(folder.data()) == nullptr) return report.failed(file_error(folder, errno));
  const std::string path = below(folder, "object");
  dataflux::download_file_request request;
  request.bucket = object.bucket;
  request.object = object.name;
  request.generation = object.generation;
  request.object_size = object.size;
  request.crc32c = object.crc32c;
  request.path = path;
  request.flush = false;
  request.limits.stop = stop;
  const auto got = dataflux::download_file(transfers, std::move(request));
  const int spooled = got ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
  const int why = errno;
  ::unlink(path.c_str());
  ::rmdir(folder.c_str());
  if (!got) return report.failed(file_error(got.error()));
  if (spooled < 0) return report.failed(file_error(path, why));
  output to{descriptor, report, true};
  to.end(copy_out(spooled, to));
  ::close(spooled);
}

}  // namespace cli
