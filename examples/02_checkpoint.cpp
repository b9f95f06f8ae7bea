/// 02: writes a checkpoint as a stream and reads it back: in order, from anywhere, and all at once.
/// It appears only by commit(), whole and verified; Ctrl-C leaves nothing behind.
///
///     02_checkpoint BUCKET OBJECT

#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/exec/interrupt_source.hpp>
#include <dataflux/gcs/client.hpp>

#include <cstdio>
#include <cstring>
#include <stop_token>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tensor_size = std::size_t{4} << 20U;
constexpr int tensors = 10;

std::vector<std::byte> tensor(int number) {
  return std::vector<std::byte>(tensor_size, static_cast<std::byte>('0' + number));
}

dataflux::result<dataflux::committed_object> save(const dataflux::transfer_context& context,
                                                  const std::string& bucket,
                                                  const std::string& object,
                                                  const std::stop_token& stop) {
  auto writer =
      dataflux::checkpoint_writer::open(context, {.bucket = bucket,
                                                  .object = object,
                                                  .attributes = {.metadata = {{"step", "1000"}}},
                                                  .limits = {.stop = stop}});
  if (!writer) return writer.error();
  for (int i = 0; i < tensors; ++i) {
    // An error, or an exception in what makes the bytes, leaves what was there before.
    if (auto good = writer->write(tensor(i)); !good) return good.error();
  }
  return writer->commit();
}

void run(const std::string& bucket, const std::string& object) {
  const auto client = dataflux::gcs::client::create().value();
  const dataflux::transfer_context context(*client);
  const auto signals = dataflux::interrupt_source::create().value();
  const auto made = save(context, bucket, object, signals.token()).value();
  std::printf("saved %llu bytes, %zu parts, %s\n",
              static_cast<unsigned long long>(made.object.size), made.parts.size(),
              std::string(to_string(made.path)).c_str());

  auto reader = dataflux::checkpoint_reader::open(context, {.bucket = bucket,
                                                            .object = object,
                                                            .generation = made.object.generation,
                                                            .parts = made.parts})
                    .value();
  std::vector<std::byte> one(tensor_size);
  reader.read_at(7 * tensor_size, one).value();
  std::printf("tensor 7 %s\n", one == tensor(7) ? "restored" : "differs");
  std::vector<std::byte> all(reader.size());
  reader.read_all(all).value();
  std::printf("all of it %s\n", reader.verified() ? "verified" : "not verified");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  run(argv[1], argv[2]);
} catch (const dataflux::exception& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
