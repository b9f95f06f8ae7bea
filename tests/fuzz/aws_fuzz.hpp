#pragma once

#include <cstddef>
#include <span>

/// Any bytes, taken for a file of profiles, a command, the JSON of a credential_process and of an
/// endpoint with keys, and the XML of STS. Aborts when an invariant breaks.
void fuzz_aws(std::span<const std::byte> input);
