#pragma once

#include <dataflux/shard/detail/tar_format.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// The headers of a tar archive, as every reader understands them: POSIX (ustar), and a pax header
/// before it where the name or the size needs one. The same name and size give the same bytes:
/// times and owners are 0, and the mode is 0444, as webdataset's.
namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// What ends an archive: two blocks of zeros.
inline constexpr std::size_t tar_end_bytes = 2 * tar_block;

/// The longest name: with its record it fits into what a tar_reader takes.
inline constexpr std::size_t longest_tar_name = (std::size_t{1} << 20) - 64;

/// Appends the headers of a file of `size` bytes, 512 bytes or more. The name is not empty, has no
/// NUL, and at most longest_tar_name bytes.
///
/// A name of up to 100 bytes is in the header, and a longer one that can be split at a slash, too.
/// Any other name is a pax record, and so is a size of 8 GiB and more. Names are bytes, as they
/// are.
///
/// Errors: none but std::bad_alloc. Cost: some 200 ns.
void append_tar_header(std::string& out, std::string_view name, std::uint64_t size);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/tar_writer.ipp>
#endif
