#pragma once

#include <cstddef>
#include <span>

/// An archive is indexed, in pieces and by ranges; the index is written and read; each sample is
/// taken apart by it. The first byte chooses rules, as for fuzz_tar().
void fuzz_shard_indexer(std::span<const std::byte> input);
