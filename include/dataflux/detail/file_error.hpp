#pragma once

#include <dataflux/error.hpp>
#include <dataflux/result.hpp>

#include <cerrno>
#include <string>
#include <system_error>

/// Failures of the local file system as errors: they name a path, and neither bucket nor object.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// `code` is errno: not_found (no such folder), permission_denied, resource_exhausted (disk full,
/// or a limit of the process reached), invalid_argument (the path cannot be that of a file), else
/// unknown.
inline errc errc_of_errno(int code) noexcept {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      return errc::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return errc::permission_denied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return errc::resource_exhausted;
    case EISDIR:
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return errc::invalid_argument;
    default:
      return errc::unknown;
  }
}

/// The system would take the path for what stands before a zero byte.
inline result<void> check_path(const std::string& path) {
  if (path.find('\0') == std::string::npos) return {};
  return error{errc::invalid_argument, "path: there is a zero byte in it"};
}

/// The error says "cannot `what` 'path': No such file or directory"
inline error file_error(int code, const char* what, const std::string& path) {
  return error{errc_of_errno(code),
               std::string{"cannot "}.append(what).append(" '").append(path).append("': ").append(
                   std::generic_category().message(code))};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
