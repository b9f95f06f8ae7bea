#pragma once

#include <emulator/emulator.hpp>

#include <cstddef>
#include <span>
#include <string>

/// The objects that play_calls() reads, into the bucket "bkt".
void fill_for_calls(emulator::server& server);

/// Plays on one thread the calls of the C ABI that `input` says: in any order, with good and bad
/// input, on handles that live, were closed, or are NULL, against an emulator at `endpoint` that
/// has the bucket "bkt" with objects "o/000000" to "o/000019", and files of a folder of its own.
/// All is freed at the end, in an order that the input says. Aborts where an invariant breaks: what
/// a function answers, its error and what it gives must agree, and items must be whole.
void play_calls(const std::string& endpoint, std::span<const std::byte> input);
