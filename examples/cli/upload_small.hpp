#pragma once

#include "upload.hpp"

namespace cli {

/// A file of up to whole_object_limit. Returns when it is under way; blocks while the pipeline is
/// full.
void upload_small(job& from, file_to_send file);

}  // namespace cli
