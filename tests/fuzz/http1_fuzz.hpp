#pragma once

#include <cstddef>
#include <span>

/// Byte 0: bit 0 = the reply answers a HEAD, the rest seeds the cutting into pieces; then the bytes
/// a server sends before it closes. Aborts when a broken invariant shows.
void fuzz_http1(std::span<const std::byte> input);
