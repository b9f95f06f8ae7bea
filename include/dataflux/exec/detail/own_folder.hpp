#pragma once

#include <dataflux/result.hpp>

#include <cstdint>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// failed_precondition for a file system of several machines, by statfs::f_type.
result<void> check_local_type(std::uint32_t type, const std::string& path);

/// Opens the folder `name`, which is this user's alone, of a folder that users name and perhaps
/// share: for what the processes of one user leave for each other. `make`: both are made where they
/// are missing. `refused`: the permissions that nobody else may have. `why`: for the error, what
/// comes of it.
///
/// Gives a descriptor. Errors: those of the file system, with the path, and not_found;
/// failed_precondition where the file system is one of several machines (NFS and its like), or the
/// folder is another user's, or others have one of the permissions. A link in its place is refused.
///
/// Threads: any; blocks for the disk.
struct own_folder {
  const std::string& path;
  const std::string& name;
  unsigned refused{0};
  const char* why{""};
  /// Others must not be able to put another folder in its place, either.
  bool stays{false};
};
result<int> open_own_folder(const own_folder& wanted, bool make);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/own_folder.ipp>
#endif
