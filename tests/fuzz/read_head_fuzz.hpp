#pragma once

#include <cstddef>
#include <span>

/// A status and lines "name: value", held against reads of every form. Aborts when a broken
/// invariant shows.
void fuzz_read_head(std::span<const std::byte> input);
