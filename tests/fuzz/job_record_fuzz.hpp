#pragma once

#include <cstddef>
#include <span>

/// A record of a process of a job. Aborts where one that was read is written to a text that reads
/// otherwise, or a machine that has seen it allows more than all that there is.
void fuzz_job_record(std::span<const std::byte> input);
