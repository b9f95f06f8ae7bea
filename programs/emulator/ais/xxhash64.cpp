#include <emulator/ais/xxhash64.hpp>
#include <emulator/service_error.hpp>

#include <array>
#include <cstdio>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace emulator::ais {

std::uint64_t xxhash64(const content& data) {
  XXH64_state_t hash;
  XXH64_reset(&hash, 0);
  std::vector<std::byte> scratch;
  for (std::uint64_t at = 0; at < data.size();) {
    const auto chunk = data.read(at, std::size_t{1} << 20U, scratch);
    if (chunk.empty()) {
      throw service_error{500, "internalError", "InternalError",
                          "The bytes of the object can no longer be read"};
    }
    XXH64_update(&hash, chunk.data(), chunk.size());
    at += chunk.size();
  }
  return XXH64_digest(&hash);
}

std::string xxhash2(const content& data) {
  std::array<char, 17> out{};
  std::snprintf(out.data(), out.size(), "%016llx", static_cast<unsigned long long>(xxhash64(data)));
  return out.data();
}

}  // namespace emulator::ais
