// What a user's first program may look like; built in every way in which dataflux can be used.
#include <dataflux/dataflux.hpp>

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
  const std::uint32_t crc = dataflux::codec::crc32c(dataflux::as_bytes(digits));
  expect(crc == 0xE3069283, "crc32c");
  expect(dataflux::codec::encode_percent("a b/c") == "a%20b%2Fc", "encode_percent");
  expect(dataflux::codec::parse_rfc3339("2024-02-29T12:00:00Z").has_value(), "parse_rfc3339");

  const auto url = dataflux::http::parse_url("https://storage.googleapis.com/storage/v1/b");
  expect(url && url->origin.port == 443 && url->target == "/storage/v1/b", "parse_url");
  const auto refused = dataflux::http::parse_url("ftp://example.com/");
  expect(!refused && refused.error().code() == dataflux::errc::invalid_argument, "a bad URL");

  if (failures == 0) std::puts("consumed dataflux " DATAFLUX_VERSION);
  return failures == 0 ? 0 : 1;
}
