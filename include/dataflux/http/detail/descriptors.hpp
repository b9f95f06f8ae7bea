#pragma once

#include <dataflux/deadline.hpp>

#include <string_view>
#include <vector>

/// Questions and settings of descriptors.
namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// Who finds no descriptor left says so with these words.
inline constexpr std::string_view no_descriptor_text = "no file descriptor is left";
inline constexpr std::string_view descriptor_advice =
    "raise the limit of open files (ulimit -n) or use fewer connections";

/// Whether `code` (an errno) says that the process or the system is out of descriptors.
bool is_descriptor_shortage(int code) noexcept;

/// Whether none can be had now, for where a library below does not say why it failed. Cost: two
/// system calls.
bool out_of_descriptors() noexcept;

/// A socket that other programs do not inherit, closed in the child of a fork, whose peer is taken
/// for gone after `peer_timeout` without an acknowledgement (zero: the system's limits). -1 with
/// errno set when there is none.
int open_socket(int family, int type, duration peer_timeout) noexcept;

/// Sorted: descriptors that a new program would inherit. Empty without /proc.
std::vector<int> inheritable_descriptors();

/// Of those that have come since `before`, the sockets of this machine on which nothing is under
/// way. Other threads may open some meanwhile, which are theirs.
std::vector<int> quiet_sockets_since(const std::vector<int>& before);

/// Marks those of `sockets` close-on-exec from or to which bytes are under way now, and takes one
/// byte off the receiving one.
void keep_busy_sockets(const std::vector<int>& sockets) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/descriptors.ipp>
#endif
