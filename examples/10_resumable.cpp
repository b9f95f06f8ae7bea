/// 10: writes a stream of unknown length. After a break it asks the service for the position and
/// resumes, as another process can that knows the session's URL.
///
///     10_resumable BUCKET NAME MIB

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/gcs/client.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace gcs = dataflux::gcs;

namespace {

/// Chunks are of whole quanta of 256 KiB, but for the last; large ones are faster.
constexpr std::size_t chunk = 4 * dataflux::resumable_quantum;

/// Sends what is behind the first `sent` bytes.
dataflux::result<dataflux::object_metadata> finish(gcs::client& client,
                                                   const dataflux::resumable_session& session,
                                                   dataflux::bytes_view data, std::uint64_t sent) {
  while (true) {
    const std::size_t size = std::min(chunk, data.size() - sent);
    const bool last = sent + size == data.size();
    dataflux::resumable_chunk_request request{
        .session = session, .offset = sent, .data = data.subspan(sent, size), .last = last};
    // The service compares it before it makes the object.
    if (last) request.crc32c = dataflux::crc32c(data);
    auto progress = client.run(request);
    if (!progress) return std::move(progress).error();
    if (progress->object) return std::move(*progress->object);
    sent = progress->persisted;
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) return 2;
  const std::string bucket = argv[1];
  const std::string name = argv[2];
  std::vector<std::byte> stream(std::stoull(argv[3]) << 20U);
  for (std::size_t i = 0; i < stream.size(); ++i) stream[i] = static_cast<std::byte>(i * 7 % 251);
  const dataflux::bytes_view data = stream;
  const auto client = gcs::client::create().value();

  // A condition is checked when the upload ends: nobody else may have made the object meanwhile.
  const auto first =
      client
          ->run(dataflux::resumable_start_request{
              .bucket = bucket, .object = name, .conditions = {.if_generation_match = 0}})
          .value();

  static_cast<void>(client
                        ->run(dataflux::resumable_chunk_request{
                            .session = first, .offset = 0, .data = data.first(chunk)})
                        .value());
  static_cast<void>(client
                        ->run(dataflux::resumable_chunk_request{
                            .session = first, .offset = chunk, .data = data.subspan(chunk, chunk)})
                        .value());

  // Later, elsewhere. The URL alone allows to write the object: keep it like a password.
  const auto session = dataflux::resumable_session::from_url(first.url(), bucket, name).value();
  const std::uint64_t sent =
      client->run(dataflux::resumable_status_request{.session = session}).value().persisted;
  std::printf("broken off at %llu bytes, taken up again there\n",
              static_cast<unsigned long long>(sent));

  const auto object = finish(*client, session, data, sent).value();
  std::printf("%llu bytes, %s\n", static_cast<unsigned long long>(object.size),
              object.crc32c == dataflux::crc32c(data) ? "checked" : "not checked");
} catch (const dataflux::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
