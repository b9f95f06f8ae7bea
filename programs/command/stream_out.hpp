#pragma once

#include <dataflux/download/get_one.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <functional>
#include <stop_token>

#include "outcome.hpp"

namespace cli {

/// Reads an object, or a range of it, in order, from several ranges in flight, and gives each slice
/// to `take`. The CRC32C of a whole object is compared before its last slice is given; a checksum
/// of another kind only where the object is one slice, which is `verified` then. Errors: data_loss,
/// those of a read, that of `take`.
dataflux::result<void> for_each_slice(
    const dataflux::transfer_context& transfers, const dataflux::object_metadata& object,
    const dataflux::byte_range& range, const std::stop_token& stop,
    const std::function<dataflux::result<void>(const dataflux::got_item&)>& take);

/// Writes an object, or a range of it, to a descriptor in order, from several ranges in flight.
/// The checksum of a whole object is compared before its last slice is written: bytes of a damaged
/// one are out by then, but not all. A range has no checksum to be compared with. `report` is told
/// the end: done; or the failure, which is data_loss, that of a read, or file_error() of the
/// descriptor, with how many bytes are out.
void stream_out(const dataflux::transfer_context& transfers,
                const dataflux::object_metadata& object, const dataflux::byte_range& range,
                int descriptor, outcome& report, const std::stop_token& stop);

/// The same of a whole object, of which nothing is written before all of it has been compared: what
/// is longer than a slice lies in a file of $TMPDIR meanwhile. failed_precondition where there is
/// nothing to compare it with: on AIStore that may be whatever is longer than a slice.
void checked_out(const dataflux::transfer_context& transfers,
                 const dataflux::object_metadata& object, int descriptor, outcome& report,
                 const std::stop_token& stop);

/// The same of a member of an archive, by a read into memory: nothing is written of one that
/// cannot be read.
void member_out(const dataflux::transfer_context& transfers, dataflux::get_one_request what,
                int descriptor, outcome& report);

}  // namespace cli
