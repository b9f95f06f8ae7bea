#pragma once

#include <cstddef>
#include <span>

/// The head of a cache's record: what is decoded is encoded to the same bytes, and says of no more
/// bytes than a segment may have that they are its own.
void fuzz_cache_record(std::span<const std::byte> input);
