#pragma once

#include <cstddef>
#include <span>

/// An index of shards. Reads all that is given of any bytes; a second time with the checksums made
/// good, so that what lies behind them is reached.
void fuzz_shard_index(std::span<const std::byte> input);
