#pragma once

#include <emulator/content.hpp>

#include <cstdint>
#include <string>

namespace emulator::ais {

/// XXH64 with seed 0. Throws service_error 500 when a seeded file can no longer be read in full.
std::uint64_t xxhash64(const content& data);
/// In 16 hexadecimal digits, as AIStore's checksum "xxhash2" is written.
std::string xxhash2(const content& data);

}  // namespace emulator::ais
