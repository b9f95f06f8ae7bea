#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/rfc3339.hpp>

#include <fuzz/require.hpp>
#include <fuzz/rfc3339_fuzz.hpp>

#include <cstdint>
#include <cstring>

namespace codec = dataflux::codec;

void fuzz_rfc3339(std::span<const std::byte> input) {
  if (const auto time = codec::parse_rfc3339(dataflux::as_text(input))) {
    require(codec::parse_rfc3339(codec::format_rfc3339(*time)) == time);
  }
  std::int64_t count = 0;
  if (input.size() < sizeof count) return;
  std::memcpy(&count, input.data(), sizeof count);
  const codec::timestamp any{std::chrono::nanoseconds{count}};
  require(codec::parse_rfc3339(codec::format_rfc3339(any)) == any);
}
