/// Lists a bucket and reads all that is in it, checked. It is a bucket in memory, so that nothing
/// else is needed; with DATAFLUX_TEST_BUCKET set it is that one, at the service or at the emulator
/// that STORAGE_EMULATOR_HOST names.

#include <dataflux/download/getter.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/store/memory_store.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

#if defined(DATAFLUX_COMPILED)
constexpr const char* form = "compiled";
#else
constexpr const char* form = "header-only";
#endif

/// A store on a virtual clock goes on only while `drive` runs; one with threads needs no driving.
template <class Drive>
int read_all(dataflux::object_store& store, const std::string& bucket, Drive drive) {
  auto listing = dataflux::submit_fast_list(store, {.bucket = bucket});
  drive();
  auto listed = listing.take().value();
  const std::size_t expected = listed.objects.size();

  const dataflux::transfer_context context(store);
  dataflux::getter items(context, {.bucket = bucket}, std::move(listed.objects));
  std::size_t verified = 0;
  for (;;) {
    auto reading = items.submit_next_batch(16);
    drive();
    const auto batch = reading.take().value();
    if (batch.empty()) break;
    for (const dataflux::got_item& item : batch) {
      if (item.failure) throw dataflux::exception(*item.failure);
      const auto* text = reinterpret_cast<const char*>(item.bytes.data());
      std::printf("%s: %.*s\n", item.object.str().c_str(), static_cast<int>(item.bytes.size()),
                  text);
      verified += item.verified ? 1 : 0;
    }
  }
  std::printf("dataflux %s, %s: %zu objects listed, %zu read and checked\n", DATAFLUX_VERSION, form,
              expected, verified);
  return expected > 0 && verified == expected ? 0 : 1;
}

}  // namespace

int main() try {
  if (const char* bucket = std::getenv("DATAFLUX_TEST_BUCKET")) {
    const auto client = dataflux::gcs::client::create().value();
    return read_all(*client, bucket, [] {});
  }
  dataflux::virtual_scheduler scheduler;
  dataflux::memory_store store(scheduler);
  store.put("memory", "train/a", dataflux::as_bytes("first"));
  store.put("memory", "train/b", dataflux::as_bytes("the second one"));
  return read_all(store, "memory", [&] { scheduler.run(); });
} catch (const dataflux::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
