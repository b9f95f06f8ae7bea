#pragma once

#include <dataflux/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

/// Whose read is the next one.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// Decides between those who read by one context when a connection becomes free: whoever has the
/// fewest reads under way, and of equals whoever has waited longer since its last one. So each gets
/// as many connections as it can use or as the others have, however long its reads take; by turns
/// alone a loader of small objects beside a restore would get the share of their lengths.
///
/// No clock, no lock. One executor at a time. Cost of a call: O(log n) of n that wait; one
/// allocation when one waits for the first time.
class read_turns {
 public:
  struct member;
  using key = std::pair<std::size_t, std::uint64_t>;
  using line = std::map<key, member*>;
  /// One that reads. Left by leave() before it ends, and when it has nothing under way.
  struct member {
    std::size_t under_way{0};
    std::uint64_t place{0};   ///< 0: it does not wait
    line::node_type entry{};  ///< while it does not: the one that it had in the line
  };

  /// It wants a read; no change if it waits already.
  void join(member& m);
  void leave(member& m) noexcept;
  /// A read of its began, and it goes behind those that have as many; or one ended.
  void started(member& m);
  void ended(member& m);
  /// Of those that wait; nullptr if nobody does.
  member* next() const noexcept { return line_.empty() ? nullptr : line_.begin()->second; }

 private:
  static key key_of(const member& m) noexcept { return {m.under_way, m.place}; }
  void change(member& m, std::size_t under_way, std::uint64_t place);

  line line_{};
  std::uint64_t last_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/read_turns.ipp>
#endif
