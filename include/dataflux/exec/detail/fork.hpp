#pragma once

#include <dataflux/detail/config.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/error.hpp>

#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// fork() copies descriptors but not threads: what the parent made must not be used in the child.
/// Whoever owns a thread or a socket has a detail::process_stamp, and asks it at each entry before
/// any lock. In the child it refuses (errc::failed_precondition) and leaks its state instead of
/// tearing it down, which would speak on the parent's connections. What only has a lock, as pools
/// of memory have, goes without it there.

/// What a use in the child fails with; `what` the parent made: "client", "listing".
error forked_error(std::string_view what);

/// Descriptors that a forked child closes at once, so that the parent's peers see the parent's
/// closes. Thread-safe. Cost: a lock, a tree node and an fstat. A descriptor
/// that was closed without a word to untrack_descriptor() is told by its inode and left alone.
void track_descriptor(int descriptor);
void untrack_descriptor(int descriptor) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/fork.ipp>
#endif
