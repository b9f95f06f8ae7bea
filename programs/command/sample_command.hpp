#pragma once

#include <dataflux/shard/rewrite_shards.hpp>

#include <stop_token>
#include <string>

#include "outcome.hpp"

namespace cli {

/// The samples that a shell command makes of others. For each it runs in a folder of its own, where
/// the fields are files sample.FIELD and DATAFLUX_KEY is the key; what files sample.* are there
/// afterwards are the fields. A sample whose command fails is reported and left out.
///
/// Errors: those of the source and of files here.
dataflux::sample_source through_command(dataflux::sample_source from, std::string command,
                                        outcome& report, std::stop_token stop);

}  // namespace cli
