#pragma once

#include <cstddef>
#include <span>

/// Any text. Aborts when a time that was read does not come back.
void fuzz_rfc3339(std::span<const std::byte> input);
