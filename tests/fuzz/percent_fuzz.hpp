#pragma once

#include <cstddef>
#include <span>

/// Any bytes, to be encoded, and taken for a text. Aborts when a broken invariant shows.
void fuzz_percent(std::span<const std::byte> input);
