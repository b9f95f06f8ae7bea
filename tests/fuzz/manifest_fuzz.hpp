#pragma once

#include <cstddef>
#include <span>

/// A saved listing. Reads all that is given of any bytes; a second time with the checksums made
/// good, so that what lies behind them is reached.
void fuzz_manifest(std::span<const std::byte> input);
