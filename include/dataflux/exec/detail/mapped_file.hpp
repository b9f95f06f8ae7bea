#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Maps a file to be read, as long as `owner` or a copy of it lives. An empty file is no bytes and
/// has no owner. Who cuts the file off meanwhile makes reads of it raise SIGBUS.
///
/// Errors: those of the file system, with the path; invalid_argument: a folder, a pipe or a device,
/// which is "not a `noun`".
result<bytes_view> map_file(const std::string& path, std::string_view noun,
                            std::shared_ptr<const void>& owner);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/mapped_file.ipp>
#endif
