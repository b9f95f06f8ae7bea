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

/// Stores `data`, which stays as it is until `done`, and tries again what is worth it: an insert
/// without a precondition is not repeated by the client, but the same bytes under the same name are
/// the same object, however often they are sent.
void insert_again(job& from, dataflux::insert_request request,
                  dataflux::object_store::completion<dataflux::object_metadata> done);

}  // namespace cli
