#pragma once

#include <dataflux/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// The words of a command as a POSIX shell splits them, without a shell: blanks between words,
/// '...' as it is, "..." where \" and \\ stand for the second character, a backslash before any
/// character outside of quotes. Nothing is expanded: no variables, no patterns, no `~`.
///
/// Errors: invalid_argument for a quote or an escape without its end, and for no word at all; the
/// message does not quote the command, which may hold a secret. Pure.
result<std::vector<std::string>> split_command(std::string_view command);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/command_line.ipp>
#endif
