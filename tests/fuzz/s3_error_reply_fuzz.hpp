#pragma once

#include <cstddef>
#include <span>

/// A body, as S3's reply of every kind of failure. Aborts when a broken invariant shows.
void fuzz_s3_error_reply(std::span<const std::byte> input);
