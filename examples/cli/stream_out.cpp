#include "stream_out.hpp"

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/get_many.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace cli {

using dataflux::byte_range;
using dataflux::bytes_view;
using dataflux::errc;
using dataflux::error;
using dataflux::result;

namespace {

result<void> write_all(int descriptor, bytes_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return file_error("output", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
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

result<void> stream_out(const dataflux::transfer_context& transfers,
                        const dataflux::object_metadata& object, const byte_range& range,
                        int descriptor, outcome& report, const std::stop_token& stop) {
  const dataflux::byte_extent wanted = range.in(object.size);
  if (wanted.length == 0 && object.size > 0) {
    return error(errc::out_of_range, "the range is behind the object's end, which has " +
                                         std::to_string(object.size) + " bytes")
        .with_bucket(object.bucket)
        .with_object(object.name);
  }
  dataflux::getter slices(transfers, object.bucket,
                          slices_of(object, wanted, transfers.options().slice),
                          {.limits = {.stop = stop}});
  dataflux::codec::crc32c_accumulator whole;
  while (true) {
    const auto slice = slices.next();
    if (!slice) return slice.error();
    if (!*slice) break;
    const dataflux::got_item& got = **slice;
    if (got.failure) return *got.failure;
    whole.append({got.crc32c, got.bytes.size()});
    if (auto out = write_all(descriptor, got.bytes); !out) return out;
    report.moved(got.bytes.size());
  }
  const bool all = whole.length() == object.size;
  if (all && object.crc32c && *object.crc32c != whole.crc()) {
    return error(errc::data_loss, "the bytes differ from the object's CRC32C")
        .with_bucket(object.bucket)
        .with_object(object.name);
  }
  return {};
}

}  // namespace cli
