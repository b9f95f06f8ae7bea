#pragma once

#include <dataflux/detail/config.hpp>
#include <dataflux/detail/unique_function.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <list>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: the memory that all uploads of a context share. Each has a part's worth of it to itself
/// from when it joins. So an upload that waits for memory waits for parts in flight, and never for
/// another producer: many writers that one thread fills in turns do not block each other. The rest
/// goes to the first who asks. On the strand.
class upload_memory {
 public:
  explicit upload_memory(std::uint64_t cap) noexcept : cap_(cap) {}
  upload_memory(const upload_memory&) = delete;
  upload_memory& operator=(const upload_memory&) = delete;

  /// One upload's account.
  struct member {
    std::uint64_t own{0};
    std::uint64_t held{0};
  };
  using granted = unique_function<void(result<void>)>;

  std::uint64_t cap() const noexcept { return cap_; }
  std::uint64_t held() const noexcept { return held_; }
  std::uint64_t peak() const noexcept { return peak_; }
  /// What is nobody's own.
  std::uint64_t free_to_own() const noexcept { return cap_ - owned_; }

  /// False: there is not so much left that is nobody's own.
  bool join(member& m, std::uint64_t own) noexcept;
  /// For what it holds until a producer has filled it: so much more of it is its own. False: there
  /// is not so much left that is nobody's own.
  bool own_more(member& m, std::uint64_t bytes) noexcept;
  /// The producer is done.
  void own_less(member& m, std::uint64_t bytes);
  /// Its waiters are told `why` they get nothing.
  void forget(const member& m, const error& why);
  /// It holds nothing any more. Waiters that it has are destroyed without being called.
  void leave(member& m);
  /// Whether so many bytes can be had at all, when all others hold no more than their own.
  bool possible(const member& m, std::uint64_t bytes) const noexcept {
    return bytes <= m.own + free_to_own();
  }
  /// Calls `then` when `m` holds `bytes` more: at once, inside the call, or inside a release(). Not
  /// always in the order of the calls: what fits into `m`'s own goes first.
  void acquire(member& m, std::uint64_t bytes, granted then);
  void release(member& m, std::uint64_t bytes);

 private:
  struct request {
    member* who;
    std::uint64_t bytes;
    granted then;
  };
  std::list<request> take_waiters(const member& m);
  /// What `m` takes away from the others.
  static std::uint64_t claim(const member& m) noexcept { return m.held > m.own ? m.held : m.own; }
  bool fits(const member& m, std::uint64_t bytes) const noexcept;
  void take(member& m, std::uint64_t bytes) noexcept;
  void serve();

  const std::uint64_t cap_;
  std::uint64_t owned_{0};
  std::uint64_t claimed_{0};
  std::uint64_t held_{0};
  std::uint64_t peak_{0};
  std::list<request> line_{};
  bool serving_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/upload_memory.ipp>
#endif
