#pragma once

#include <cstddef>
#include <span>

/// Any bytes, taken for a document and for an ETag. Aborts when an invariant breaks.
void fuzz_xml(std::span<const std::byte> input);
