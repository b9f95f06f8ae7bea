#pragma once

#include "upload.hpp"

namespace cli {

/// The part of upload() for files up to whole_object_limit.
void upload_small(job& from, file_to_send file);

/// Opens the file; the caller closes it. Errors: file_error().
dataflux::result<int> open_to_send(const file_to_send& file);
/// Reads exactly `into` from `offset` on. Errors: file_error(), also when the file ends before.
dataflux::result<void> read_exactly(int descriptor, dataflux::bytes_span into, std::uint64_t offset,
                                    const std::string& shown);

}  // namespace cli
