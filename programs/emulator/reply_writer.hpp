#pragma once

#include <emulator/service.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace emulator {

/// Turns an exchange into the bytes of its reply, step by step and without a socket: head, framing
/// and body, as far as the wire script lets them through. Bodies in memory are given in place.
class reply_writer {
 public:
  enum class step {
    write,       ///< send buffers(), then ask again
    limit,       ///< the script's limit is reached: do what wire() says
    finished,    ///< the whole reply has been given
    unreadable,  ///< a seeded file broke off: nothing honest can follow what was sent
  };

  /// Replaces what was being written. Without `keep_alive` the head says "Connection: close".
  void start(exchange what, bool keep_alive);
  step next();
  /// What to send now, some of it empty; valid until the next call of next() or start().
  const std::array<std::span<const std::byte>, 4>& buffers() const noexcept { return buffers_; }
  /// How many of those bytes are of the body itself.
  std::uint64_t body_bytes() const noexcept { return step_body_; }

  const wire_script& wire() const noexcept { return what_.wire; }
  /// After a finite stall: gives the rest with no script.
  void lift_limits() { what_.wire = {}; }
  /// True when the script wants a pause now.
  bool dripping() const noexcept {
    return what_.wire.drip_bytes > 0 && has_body_ && body_sent_ < what_.reply.body.size();
  }

 private:
  void make_head(bool keep_alive);
  void frame(std::span<const std::byte> data);

  exchange what_{};
  std::string head_{};
  std::uint64_t head_sent_{0};
  std::uint64_t body_sent_{0};
  std::uint64_t step_body_{0};
  bool has_body_{false};
  bool last_chunk_due_{false};
  std::string chunk_head_{};
  std::vector<std::byte> scratch_{};
  std::array<std::span<const std::byte>, 4> buffers_{};
};

}  // namespace emulator
