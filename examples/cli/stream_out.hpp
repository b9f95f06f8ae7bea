#pragma once

#include <dataflux/byte_range.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <stop_token>

#include "outcome.hpp"

namespace cli {

/// Writes an object, or a range of it, to a descriptor in order, from several ranges in flight.
/// The checksum of a whole object is compared at its end: bytes of a damaged one are out by then,
/// and the result is data_loss. Errors: those of reads; file_error() when writing fails.
dataflux::result<void> stream_out(const dataflux::transfer_context& transfers,
                                  const dataflux::object_metadata& object,
                                  const dataflux::byte_range& range, int descriptor,
                                  outcome& report, const std::stop_token& stop);

}  // namespace cli
