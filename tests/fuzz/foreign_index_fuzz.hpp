#pragma once

#include <cstddef>
#include <span>

/// Others' indexes of shards. The first byte chooses the name of the file; what is read is imported
/// for a shard of some size.
void fuzz_foreign_index(std::span<const std::byte> input);
