#pragma once

#include <dataflux/shard/rewrite_shards.hpp>

#include <cstdint>
#include <stop_token>
#include <string>

#include "outcome.hpp"

namespace cli {

/// What commands have left that is no field.
struct files_left_out {
  std::uint64_t count{0};
  std::string first{};  ///< and of which sample
};

/// The samples that a shell command makes of others. For each it runs in a folder of its own, where
/// the fields are files sample.FIELD and DATAFLUX_KEY is the key; what files sample.* are there
/// afterwards are the fields. Others are counted. A sample whose command fails, or leaves no field,
/// is reported and left out.
///
/// Errors: those of the source and of files here; invalid_argument for a NUL in a name; cancelled
/// by a stop, which ends the command that runs. Lifetime: report and left_out outlive the source.
dataflux::sample_source through_command(dataflux::sample_source from, std::string command,
                                        outcome& report, files_left_out& left_out,
                                        std::stop_token stop);

}  // namespace cli
