#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/store/detail/random.hpp>
#include <dataflux/store/synthetic_objects.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

struct synthetic_period {
  std::array<std::byte, synthetic_bytes::period> bytes{};
  /// prefix[i] is the checksum of the first i bytes.
  std::array<std::uint32_t, synthetic_bytes::period + 1> prefix{};

  synthetic_period() noexcept {
    std::uint64_t state = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = std::byte(next_random(state) >> 56U);
      prefix[i + 1] = crc32c_extend(prefix[i], bytes_view{&bytes[i], 1});
    }
  }
  /// Checksum of bytes [from, to) of the period.
  std::uint32_t crc32c(std::uint64_t from, std::uint64_t to) const noexcept {
    return crc32c_subtract_prefix(prefix[to], prefix[from], to - from);
  }
};

inline const synthetic_period& the_synthetic_period() noexcept {
  static const synthetic_period instance;  // trivially destructible: no work at exit
  return instance;
}

}  // namespace detail

DATAFLUX_INLINE synthetic_bytes::synthetic_bytes(std::uint64_t size, std::uint64_t seed) noexcept
    : size_(size), shift_(detail::next_random(seed) % period) {}

DATAFLUX_INLINE void synthetic_bytes::copy(std::uint64_t offset, bytes_span out) const noexcept {
  const auto& source = detail::the_synthetic_period().bytes;
  std::uint64_t at = (offset % period + shift_) % period;
  while (!out.empty()) {
    const auto count = std::min<std::uint64_t>(out.size(), period - at);
    std::memcpy(out.data(), source.data() + at, count);
    out = out.subspan(count);
    at = 0;
  }
}

DATAFLUX_INLINE std::uint32_t synthetic_bytes::crc32c(std::uint64_t offset,
                                                      std::uint64_t length) const noexcept {
  const auto& source = detail::the_synthetic_period();
  const std::uint64_t at = (offset % period + shift_) % period;
  if (at + length <= period) return source.crc32c(at, at + length);
  crc32c_accumulator sum(source.crc32c(at, period), period - at);
  length -= period - at;
  // Whole periods by doubling, lowest bit of their number first: all are equal, so order is free.
  crc32c_accumulator power(source.prefix[period], period);
  for (std::uint64_t count = length / period; count != 0; count >>= 1U) {
    if ((count & 1U) != 0) sum.append(power);
    power.append(crc32c_accumulator(power));
  }
  sum.append(crc32c_accumulator(source.prefix[length % period], length % period));
  return sum.crc();
}

}  // namespace dataflux::inline DATAFLUX_ABI
