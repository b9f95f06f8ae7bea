#pragma once

#include <cstddef>
#include <span>

/// Any bytes as a file of zstd's format, whole and in pieces. Aborts when the two differ.
void fuzz_zstd(std::span<const std::byte> input);
