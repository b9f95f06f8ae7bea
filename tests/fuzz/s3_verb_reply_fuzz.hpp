#pragma once

#include <cstddef>
#include <span>

/// A body, as the reply of success to each of S3's verbs. Aborts when a broken invariant shows.
void fuzz_s3_verb_reply(std::span<const std::byte> input);
