// What a user's first program may look like; built in every way in which dataflux can be used.
#include <dataflux/dataflux.hpp>
#include <dataflux/testing.hpp>

#include <cstdio>
#include <string>

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "consume: %s\n", what);
  ++failures;
}

}  // namespace

int main() {
  const std::string digits = "123456789";
  const std::uint32_t crc = dataflux::crc32c(dataflux::as_bytes(digits));
  expect(crc == 0xE3069283, "crc32c");

  dataflux::virtual_thread clock;
  dataflux::memory_store store(clock);
  store.put("bucket", "train/1", dataflux::as_bytes(digits));
  const auto listed = dataflux::fast_list(store, {.bucket = "bucket", .prefix = "train/"});
  expect(listed && listed->objects.size() == 1, "fast_list");
  const dataflux::transfer_context context(store);
  dataflux::getter items(context, {.bucket = "bucket"}, listed->objects.slice(0, 1));
  const auto item = items.next();
  expect(item && *item && (*item)->verified && (*item)->crc32c == crc, "getter");

  const auto refused = dataflux::gcs::client::create({.endpoint = "ftp://example.com/"});
  expect(!refused && refused.error().code() == dataflux::errc::invalid_argument, "a bad endpoint");

  if (failures == 0) std::puts("consumed dataflux " DATAFLUX_VERSION);
  return failures == 0 ? 0 : 1;
}
