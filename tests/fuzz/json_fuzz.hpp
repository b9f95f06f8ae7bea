#pragma once

#include <cstddef>
#include <span>

/// Any bytes, taken for a document, and written as a string. Aborts when an invariant breaks.
void fuzz_json(std::span<const std::byte> input);
