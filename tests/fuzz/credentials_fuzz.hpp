#pragma once

#include <cstddef>
#include <span>

/// Any bytes, taken for a credentials file, a token endpoint's reply and the name of an emulator.
/// Aborts when an invariant breaks.
void fuzz_credentials(std::span<const std::byte> input);
