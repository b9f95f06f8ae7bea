#pragma once

#include <cstddef>
#include <span>

/// Any bytes, taken for a member's record, a set's manifest and an object's metadata. Aborts when
/// an invariant breaks.
void fuzz_set_manifest(std::span<const std::byte> input);
