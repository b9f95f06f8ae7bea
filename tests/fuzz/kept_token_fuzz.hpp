#pragma once

#include <cstddef>
#include <span>

/// Texts that processes leave for each other, files and programs say of a certificate, and options
/// say of ways: nothing bad is taken, and nothing is read beyond them.
void fuzz_kept_token(std::span<const std::byte> input);
