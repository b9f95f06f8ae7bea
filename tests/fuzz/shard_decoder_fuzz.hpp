#pragma once

#include <cstddef>
#include <span>

/// A shard, plain or compressed, gives the same bytes or the same error however it is cut.
void fuzz_shard_decoder(std::span<const std::byte> input);
