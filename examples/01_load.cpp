/// 01: lists a prefix and reads every object below it, as a training loop does.
///
///     01_load BUCKET PREFIX

#include <dataflux/download/getter.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/list/fast_list.hpp>

#include <cstdio>

namespace {

int fail(const dataflux::error& why) {
  std::fprintf(stderr, "%s\n", why.to_string().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto client = dataflux::gcs::client::create();
  if (!client) return fail(client.error());
  auto listed = dataflux::fast_list(**client, {.bucket = argv[1], .prefix = argv[2]});
  if (!listed) return fail(listed.error());

  // One for all streams of a process: they share its memory and its requests in flight.
  const dataflux::transfer_context context(**client, {.memory_cap = 64U << 20U});
  dataflux::getter items(context, {.bucket = argv[1]}, std::move(listed->objects));
  std::size_t failed = 0;
  for (;;) {
    // At least one item, and no more waiting than for that; none at the end.
    const auto batch = items.next_batch(32);
    if (!batch) return fail(batch.error());  // of the stream: cancelled, its time limit passed
    if (batch->empty()) break;
    for (const dataflux::got_item& item : *batch) {
      if (item.failure) {  // of this object; the others go on
        std::fprintf(stderr, "%s\n", item.failure->to_string().c_str());
        ++failed;
        continue;
      }
      // item.bytes is memory of the library, which goes back to it with the item.
      std::printf("%s: %zu bytes, %s\n", item.object.str().c_str(), item.bytes.size(),
                  item.verified ? "checked" : "not checked");
    }
  }
  const dataflux::transfer_counters seen = context.counters();
  std::fprintf(stderr, "at most %llu bytes held, %d requests at a time\n",
               static_cast<unsigned long long>(seen.peak_held), seen.concurrency);
  return failed == 0 ? 0 : 1;
}
