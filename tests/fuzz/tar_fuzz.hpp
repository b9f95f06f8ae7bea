#pragma once

#include <cstddef>
#include <span>

/// Byte 0: bits 0 to 2 = rules that are lenient, bit 3 = the checksum of each block with a magic is
/// made good, and all of it seeds the cutting into pieces; then an archive. Aborts when a broken
/// invariant shows.
void fuzz_tar(std::span<const std::byte> input);
