#pragma once

#include <cstddef>
#include <span>

/// An archive of AIStore's GetBatch. Aborts when a broken invariant shows.
void fuzz_ais_batch(std::span<const std::byte> input);
