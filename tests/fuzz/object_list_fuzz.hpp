#pragma once

#include <cstddef>
#include <span>

/// A page of objects.list. Aborts when the ways to read it disagree, or an object vanishes.
void fuzz_object_list(std::span<const std::byte> input);
