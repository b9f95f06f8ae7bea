#pragma once

#include <dataflux/codec/detail/pax_records.hpp>
#include <dataflux/codec/detail/tar_extensions.hpp>
#include <dataflux/codec/detail/tar_header.hpp>

/// The headers of archives, by the names that shards use.
namespace dataflux::inline DATAFLUX_ABI::detail::shard {

using codec::has_good_checksum;
using codec::is_extension;
using codec::is_zero;
using codec::most_extension_bytes;
using codec::most_extensions;
using codec::parse_tar_header;
using codec::parse_tar_number;
using codec::pax_record;
using codec::pax_records;
using codec::tar_block;
using codec::tar_extensions;
using codec::tar_header;
using codec::tar_padding;
using codec::tar_type;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
