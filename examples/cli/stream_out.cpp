#include "stream_out.hpp"

#include <dataflux/buffer.hpp>
#include <dataflux/byte_sink.hpp>
#include <dataflux/codec/crc32c.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <memory>

#include "job.hpp"

namespace cli {

using dataflux::byte_range;
using dataflux::bytes_view;
using dataflux::errc;
using dataflux::error;
using dataflux::result;

namespace {

constexpr std::size_t ranges_ahead = 8;

struct piece {
  dataflux::buffer memory;
  dataflux::span_sink sink;
  dataflux::operation<dataflux::read_summary> read{};
  piece(dataflux::buffer bytes, std::size_t size)
      : memory(std::move(bytes)), sink(memory.span().first(size)) {}
};

result<void> write_all(int descriptor, bytes_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return file_error("output", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

/// The bytes [first, end) that `range` means in an object of `size` bytes.
struct extent {
  std::uint64_t first{0};
  std::uint64_t end{0};
};
extent extent_of(const byte_range& range, std::uint64_t size) noexcept {
  if (range.is_suffix()) return {size - std::min(size, range.length()), size};
  const std::uint64_t first = std::min(range.offset(), size);
  return {first, first + std::min(range.length(), size - first)};
}

}  // namespace

result<void> stream_out(dataflux::object_store& store, const dataflux::object_metadata& object,
                        const byte_range& range, int descriptor, outcome& report,
                        const std::stop_token& stop) {
  const auto [first, end] = extent_of(range, object.size);
  if (first == end && object.size > 0) {
    return error(errc::out_of_range, "the range is behind the object's end, which has " +
                                         std::to_string(object.size) + " bytes")
        .with_bucket(object.bucket)
        .with_object(object.name);
  }
  const dataflux::buffer_pool pool;
  std::deque<std::unique_ptr<piece>> ahead;
  dataflux::codec::crc32c_accumulator whole;
  for (std::uint64_t at = first; at < end || !ahead.empty();) {
    if (at < end && ahead.size() < ranges_ahead) {
      const auto size = static_cast<std::size_t>(std::min(range_size, end - at));
      ahead.push_back(std::make_unique<piece>(pool.acquire(size), size));
      ahead.back()->read = store.submit_read({.bucket = object.bucket,
                                              .object = object.name,
                                              .range = byte_range::span(at, size),
                                              .generation = object.generation,
                                              .limits = {.stop = stop}},
                                             ahead.back()->sink);
      at += size;
      continue;
    }
    const auto got = ahead.front()->read.take();
    if (!got) return got.error();
    whole.append({got->crc32c, got->bytes});
    if (auto out = write_all(descriptor, ahead.front()->sink.filled()); !out) return out;
    report.moved(got->bytes);
    ahead.pop_front();
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
