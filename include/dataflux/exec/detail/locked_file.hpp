#pragma once

#include <dataflux/detail/config.hpp>

#include <string>

namespace dataflux::inline DATAFLUX_ABI {

/// Opens the file `name` of an open folder for reading and writing, and makes it if it is missing.
/// The file is locked against all other such calls, of this process and others, until its last
/// descriptor is closed. It is for state that one call leaves for the next. A call that removes the
/// file does so before it closes it.
///
/// The name is one that only we use, but others may have put something there: a link, a second name
/// of somebody's file, a pipe, a file of another user, or one that more may write to than `mode`
/// lets. That is removed, and never read or written to. A file system without locks leaves it to
/// the caller that there is one call at a time. One that names another owner than who has made a
/// file keeps nothing from call to call.
///
/// Gives a descriptor, or -1 with errno: EWOULDBLOCK when another call has it, of any user; EPERM
/// or EACCES when what others have put there cannot be removed. Blocks for the disk.
int open_locked(int folder, const std::string& name, unsigned mode) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/locked_file.ipp>
#endif
