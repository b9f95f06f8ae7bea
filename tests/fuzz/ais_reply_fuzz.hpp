#pragma once

#include <cstddef>
#include <span>

/// A body, as AIStore's reply of every kind of failure, as a page of its listing, and as the fields
/// of a head. Aborts when a broken invariant shows.
void fuzz_ais_reply(std::span<const std::byte> input);
