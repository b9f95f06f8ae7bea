#pragma once

#include "client.hpp"

#include <dataflux/download/getter.hpp>
#include <dataflux/store/object_columns.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dataflux_c {

/// What streams of reads are asked for: of objects one by one, and of batches.
///
/// Errors: invalid_argument, naming the member.
result<dataflux::get_many_request> get_many_request_of(const dataflux_get_many_options& o,
                                                       dataflux::observer* observer);
/// All rows of a listing, without a copy; none of NULL.
dataflux::object_columns columns_of(const dataflux_listing* listing);
/// Errors: invalid_argument, naming the row.
result<std::vector<dataflux::get_request>> requests_of(const dataflux_get_columns& columns,
                                                       std::size_t count);
/// Samples by number. Errors: those of sample_request(); invalid_argument for a NULL, and for an
/// index of another service, which has nothing that this client could read.
result<std::vector<dataflux::get_request>> requests_of(const dataflux_shard_index* index,
                                                       const std::uint64_t* numbers,
                                                       std::size_t count,
                                                       const client_state& client);

}  // namespace dataflux_c
