#pragma once

#include <cstddef>
#include <span>

/// Any bytes: compares with a decoder that is slow and plain. Aborts when the two disagree.
void fuzz_utf8(std::span<const std::byte> input);
