#pragma once

#include <dataflux/store/synthetic_objects.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dataflux::test {

/// Bytes of an object that differ for each seed.
inline std::vector<std::byte> content(std::size_t size, std::uint64_t seed) {
  std::vector<std::byte> out(size);
  synthetic_bytes(size, seed).copy(0, out);
  return out;
}

}  // namespace dataflux::test
