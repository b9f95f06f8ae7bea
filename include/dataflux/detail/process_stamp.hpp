#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Counts the forks that led to this process since the library was first used; registers a fork
/// handler on the first call. What is made remembers it, so that the child of a fork knows what is
/// its parent's: exec/detail/fork.hpp says what it does then. Thread-safe; one load afterwards.
std::uint64_t fork_generation() noexcept;

/// The process that made its owner. Whatever has a thread, a socket or a lock keeps one,
/// and asks it before it touches them: in the child of a fork they are the parent's.
/// exec/detail/fork.hpp says what the owner does then.
///
/// Threads: any, at any time. Cost: one load and a comparison.
class process_stamp {
 public:
  /// True in the child of a fork that came after the stamp was made.
  bool inherited() const noexcept { return born_ != fork_generation(); }

 private:
  std::uint64_t born_{fork_generation()};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/impl/process_stamp.ipp>
#endif
