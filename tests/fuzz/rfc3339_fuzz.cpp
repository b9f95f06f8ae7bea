#include <dataflux/bytes.hpp>
#include <dataflux/codec/timestamp.hpp>

#include <fuzz/require.hpp>
#include <fuzz/rfc3339_fuzz.hpp>

#include <cstdint>
#include <cstring>

void fuzz_rfc3339(std::span<const std::byte> input) {
  if (const auto time = dataflux::parse_timestamp(dataflux::as_text(input))) {
    require(dataflux::parse_timestamp(dataflux::to_string(*time)) == time);
  }
  std::int64_t count = 0;
  if (input.size() < sizeof count) return;
  std::memcpy(&count, input.data(), sizeof count);
  const dataflux::timestamp any{std::chrono::nanoseconds{count}};
  require(dataflux::parse_timestamp(dataflux::to_string(any)) == any);
}
