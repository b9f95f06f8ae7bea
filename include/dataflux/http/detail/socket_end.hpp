#pragma once

#include <dataflux/bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// Our end of a connected, non-blocking socket that an edge-triggered epoll watches. A receive that
/// does not fill its memory has emptied the socket: until the next event further ones say so
/// without a system call. Belongs to one I/O thread; the descriptor is not its own.
class socket_end {
 public:
  enum class status : std::uint8_t {
    ok,      ///< `count` bytes moved, at least one
    again,   ///< wait for the descriptor; a send is then repeated with the same bytes
    closed,  ///< the peer closed its direction (receive only)
    failed,  ///< broken
  };
  struct outcome {
    socket_end::status status{status::failed};
    std::size_t count{0};
    bool surplus{false};  ///< of a last receive: there was more
  };

  explicit socket_end(int descriptor = -1) noexcept : descriptor_(descriptor) {}

  int descriptor() const noexcept { return descriptor_; }
  outcome send(bytes_view bytes) noexcept;
  /// One call for all pieces, at most most_pieces.
  static constexpr std::size_t most_pieces = 8;
  outcome send(std::span<const bytes_view> pieces) noexcept;
  /// `last`: nothing may come behind what has room in `memory`. One byte more is asked for then,
  /// so that no other call need ask whether that was all.
  outcome receive(bytes_span memory, bool last = false) noexcept;
  /// The last receive left nothing behind.
  bool drained() const noexcept { return drained_; }
  /// An event told of bytes, or somebody wants to know what has come since. `ended`: the event told
  /// of the peer's end or of a failure, too, which no later one repeats.
  void stirred(bool ended) noexcept {
    ended_ = ended_ || ended;
    drained_ = false;
  }
  /// errno of what failed.
  int failure() const noexcept { return failure_; }

 private:
  outcome outcome_of(std::ptrdiff_t moved) noexcept;

  int descriptor_{-1};
  int failure_{0};
  bool drained_{false};
  bool ended_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/socket_end.ipp>
#endif
