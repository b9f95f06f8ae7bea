/// 11: writes a large object in parallel parts. Abort an upload that is not completed: its parts
/// are invisible, and billed for ever.
///
///     11_multipart BUCKET NAME MIB

#include <dataflux/gcs/client.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using dataflux::result;

/// Sends all parts at once and gives them in their order.
result<std::vector<dataflux::uploaded_part>> send(dataflux::object_store& store,
                                                  const dataflux::upload_part_request& shape,
                                                  dataflux::bytes_view data) {
  constexpr std::size_t part_size = 8U << 20U;  // at least 5 MiB, but for the last
  std::vector<dataflux::operation<dataflux::uploaded_part>> under_way;
  for (std::size_t at = 0; at < data.size(); at += part_size) {
    auto request = shape;
    request.part_number = static_cast<std::uint32_t>(under_way.size() + 1);
    request.data = data.subspan(at, std::min(part_size, data.size() - at));
    under_way.push_back(store.submit(request));
  }
  std::vector<dataflux::uploaded_part> parts;
  for (auto& one : under_way) {
    auto part = one.take();
    // The other operations are cancelled, and waited for, as they go out of scope.
    if (!part) return std::move(part).error();
    parts.push_back(std::move(*part));
  }
  return parts;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) return 2;
  const std::string bucket = argv[1];
  const std::string name = argv[2];
  const std::vector<std::byte> data(std::stoull(argv[3]) << 20U, std::byte{42});
  const auto client = dataflux::gcs::client::create().value();

  const auto upload =
      client->run(dataflux::multipart_initiate_request{.bucket = bucket, .object = name}).value();
  auto parts =
      send(*client, {.bucket = bucket, .object = name, .upload_id = upload.upload_id}, data);
  if (!parts) {
    client
        ->run(dataflux::multipart_abort_request{
            .bucket = bucket, .object = name, .upload_id = upload.upload_id})
        .value();
    std::fprintf(stderr, "%s\n", parts.error().to_string().c_str());
    return 1;
  }
  // The object appears now, whole or not at all; its checksum is compared with those of the parts.
  const std::size_t count = parts->size();
  const auto object = client
                          ->run(dataflux::multipart_complete_request{.bucket = bucket,
                                                                     .object = name,
                                                                     .upload_id = upload.upload_id,
                                                                     .parts = std::move(*parts)})
                          .value();
  std::printf("%zu parts, %llu bytes\n", count, static_cast<unsigned long long>(object.size));
} catch (const dataflux::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
