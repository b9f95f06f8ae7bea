#pragma once

#include <dataflux/detail/config.hpp>
#include <dataflux/result.hpp>
#include <dataflux/unique_function.hpp>

#include <cstdint>
#include <list>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The memory that all uploads of a context share. Each has a part's worth of it to itself
/// from when it joins. So an upload that waits for memory waits for parts in flight, and never for
/// another producer: many writers that one thread fills in turns do not block each other. The rest
/// goes to the first who asks. On the strand.
///
/// Who joins when all of it is somebody's own waits for those to leave that go on by themselves, as
/// an upload of a file does, and never for a producer, who may be waiting for it. So that one which
/// goes on by itself always comes to its turn, one at a time has its own beyond the cap where there
/// is nothing else.
class upload_memory {
 public:
  explicit upload_memory(std::uint64_t cap) noexcept : cap_(cap) {}
  upload_memory(const upload_memory&) = delete;
  upload_memory& operator=(const upload_memory&) = delete;

  /// How bytes come to an upload: from somebody who may do something else for ever, or not.
  enum class source { producer, by_itself };
  /// One upload's account.
  struct member {
    std::uint64_t own{0};
    std::uint64_t held{0};
    source bytes{source::producer};
  };
  /// Where one is short of memory it ends what it was for itself.
  using granted = unique_function<void(result<void>)>;

  std::uint64_t cap() const noexcept { return cap_; }
  std::uint64_t held() const noexcept { return held_; }
  std::uint64_t peak() const noexcept { return peak_; }
  /// What is nobody's own.
  std::uint64_t free_to_own() const noexcept { return cap_ + beyond_ - owned_; }

  /// Calls `then` when so much is the member's own: at once, inside the call, or inside a leave().
  /// False, and it is not called: producers leave less than that.
  bool join(member& m, std::uint64_t own, source bytes, granted then);
  /// Its waiters, or it while it has not joined, are told `why` they get nothing.
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
  static std::list<request> take_waiters(std::list<request>& from, const member& m);
  /// So much of it is the member's own from now. False: there is not so much that is nobody's own.
  bool own(member& m, std::uint64_t bytes) noexcept;
  bool own_beyond(member& m, std::uint64_t bytes) noexcept;
  void let_in();
  /// What `m` takes away from the others.
  static std::uint64_t claim(const member& m) noexcept { return m.held > m.own ? m.held : m.own; }
  bool fits(const member& m, std::uint64_t bytes) const noexcept;
  void take(member& m, std::uint64_t bytes) noexcept;
  void serve();

  const std::uint64_t cap_;
  std::uint64_t beyond_{0};  ///< the cap: what is the own of `guest_`
  const member* guest_{nullptr};
  std::uint64_t owned_{0};
  std::uint64_t owned_by_producers_{0};
  std::uint64_t claimed_{0};
  std::uint64_t held_{0};
  std::uint64_t peak_{0};
  std::list<request> line_{};
  std::list<request> joining_{};
  bool serving_{false};
  bool letting_in_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/upload_memory.ipp>
#endif
