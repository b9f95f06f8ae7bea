#pragma once

#include <cstddef>
#include <span>

/// Any bytes as a file of gzip's format, whole and in pieces. Aborts when the two differ.
void fuzz_gzip(std::span<const std::byte> input);
