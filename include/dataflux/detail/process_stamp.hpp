#pragma once

#include <dataflux/detail/fork_generation.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: the process that made its owner. Whatever has a thread, a socket or a lock keeps one,
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
