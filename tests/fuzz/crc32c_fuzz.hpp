#pragma once

#include <cstddef>
#include <span>

/// Any bytes: compares with bit-by-bit division, and splits. Aborts when two ways disagree.
void fuzz_crc32c(std::span<const std::byte> input);
