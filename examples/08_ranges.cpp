/// 08: reads one large object by parallel ranges into one piece of memory. It checks the whole by
/// joining the checksums of the ranges, so that no byte is checked twice.
///
///     08_ranges BUCKET NAME [RANGE_SIZE]

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/gcs/client.hpp>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

namespace {

struct piece {
  dataflux::span_sink sink;
  dataflux::operation<dataflux::read_summary> read{};
  explicit piece(dataflux::bytes_span memory) : sink(memory) {}
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) return 2;
  const std::string bucket = argv[1];
  const std::uint64_t range_size = argc > 3 ? std::stoull(argv[3]) : 8U << 20U;
  const auto client = dataflux::gcs::client::create().value();
  const auto object = client->stat({.bucket = bucket, .object = argv[2]}).value();

  std::vector<std::byte> memory(object.size);
  std::deque<piece> pieces;
  for (std::uint64_t at = 0; at < object.size; at += range_size) {
    const std::uint64_t length = std::min(range_size, object.size - at);
    auto& one = pieces.emplace_back(dataflux::bytes_span(memory).subspan(at, length));
    one.read = client->submit_read({.bucket = bucket,
                                    .object = object.name,
                                    .range = dataflux::byte_range::span(at, length),
                                    .generation = object.generation},
                                   one.sink);
  }

  dataflux::crc32c_accumulator whole;
  for (auto& one : pieces) {
    const auto summary = one.read.take().value();
    whole.append({summary.crc32c, summary.bytes});
  }
  const bool same = object.crc32c == whole.crc();
  std::printf("%zu ranges, %llu bytes, checksum %s\n", pieces.size(),
              static_cast<unsigned long long>(whole.length()), same ? "right" : "WRONG");
  return same ? 0 : 1;
} catch (const dataflux::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
