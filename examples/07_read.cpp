/// 07: reads many objects at once into its own memory, each checked by CRC32C.
///
///     07_read BUCKET NAME...

#include <dataflux/gcs/client.hpp>

#include <cstdio>
#include <deque>
#include <string>
#include <vector>

namespace {

/// An object on its way. The memory and the sink must stay where they are until the read has ended.
struct reading {
  std::string name;
  std::vector<std::byte> memory;
  dataflux::span_sink sink;
  dataflux::operation<dataflux::read_summary> read{};

  reading(std::string object, std::size_t size)
      : name(std::move(object)), memory(size), sink(memory) {}
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) return 2;
  const std::string bucket = argv[1];
  // value() throws dataflux::exception where there is none, for programs that prefer that.
  const auto client = dataflux::gcs::client::create().value();

  std::deque<reading> readings;  // a deque leaves its elements in place as it grows
  for (int i = 2; i < argc; ++i) {
    const auto object = client->stat({.bucket = bucket, .object = argv[i]}).value();
    auto& one = readings.emplace_back(object.name, object.size);
    // submit_x() begins and comes back at once: all objects are under way together. With the
    // generation given, nobody can change the object between the two calls unseen.
    one.read = client->submit_read(
        {.bucket = bucket, .object = object.name, .generation = object.generation}, one.sink);
  }
  for (auto& one : readings) {
    const auto summary = one.read.take().value();  // waits
    std::printf("%s: %llu bytes, %s\n", one.name.c_str(),
                static_cast<unsigned long long>(summary.bytes),
                summary.verified ? "checked" : "not checked");
  }
} catch (const dataflux::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
