#pragma once

#include <cstddef>
#include <span>

/// A body, as the reply of 200 to every verb that reads one. Aborts when a broken invariant shows.
void fuzz_verb_reply(std::span<const std::byte> input);
