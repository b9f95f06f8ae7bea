/// 04: reads one huge object by parallel ranges: into memory, and into a file. If that breaks off,
/// a second run resumes it.
///
///     04_one BUCKET OBJECT FILE

#include <dataflux/download/download_file.hpp>
#include <dataflux/download/get_one.hpp>
#include <dataflux/gcs/client.hpp>

#include <cstdio>
#include <vector>

namespace {

int fail(const dataflux::error& why) {
  std::fprintf(stderr, "%s\n", why.to_string().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto client = dataflux::gcs::client::create();
  if (!client) return fail(client.error());
  const auto object = (*client)->stat({.bucket = argv[1], .object = argv[2]});
  if (!object) return fail(object.error());
  const dataflux::transfer_context context(**client);

  std::vector<std::byte> memory(object->size);
  const auto read = dataflux::get_one(
      context, {.bucket = argv[1], .object = argv[2], .generation = object->generation}, memory);
  if (!read) return fail(read.error());
  std::printf("%llu bytes in memory by %u requests, %s\n",
              static_cast<unsigned long long>(read->bytes), read->reads,
              read->verified ? "checked" : "not checked");

  const auto file = dataflux::download_file(context, {.bucket = argv[1],
                                                      .object = argv[2],
                                                      .generation = object->generation,
                                                      .path = argv[3],
                                                      .resume = true});
  if (!file) return fail(file.error());
  std::printf("%llu bytes in %s, %llu of them from an earlier run\n",
              static_cast<unsigned long long>(file->bytes), argv[3],
              static_cast<unsigned long long>(file->resumed));
}
