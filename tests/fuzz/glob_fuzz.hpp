#pragma once

#include <cstddef>
#include <span>

/// A pattern and a name, with a line break between: compares with a matcher that is slow and plain.
/// Aborts when the two disagree.
void fuzz_glob(std::span<const std::byte> input);
