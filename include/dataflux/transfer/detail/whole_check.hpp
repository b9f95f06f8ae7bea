#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/whole_checksum.hpp>
#include <dataflux/store/object_store.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Whether bytes in memory are those of an object that has no CRC32C, but another checksum: a
/// CRC64NVME or a CRC32. They are compared on a thread for files, in steps, since it takes long.
///
/// Errors: resource_exhausted, and unavailable where there is no thread. Lifetime: `all` is
/// borrowed until `done`, which is called once, on that thread, or inside this call. Cost: 0.5 ns a
/// byte.
void start_whole_check(bytes_view all, const codec::whole_checksum& wanted,
                       object_store::completion<bool> done);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/whole_check.ipp>
#endif
