#pragma once

#include <cstddef>
#include <span>

/// A body, as the reply of every kind of failure. Aborts when a broken invariant shows.
void fuzz_error_reply(std::span<const std::byte> input);
