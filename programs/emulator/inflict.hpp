#pragma once

#include <emulator/faults.hpp>
#include <emulator/message.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace emulator {

/// How a connection is to send a reply: the part of a fault that only a socket can act out.
struct wire_script {
  enum class ending { keep, close, reset };
  static constexpr auto no_limit = std::numeric_limits<std::uint64_t>::max();

  std::chrono::milliseconds delay{0};  ///< before the first byte
  std::uint64_t head_limit{no_limit};  ///< bytes of status line and headers
  std::uint64_t body_limit{no_limit};  ///< bytes of the body
  /// At the first limit reached: send nothing for so long, then go on without limits; 0: until the
  /// peer leaves. Absent: `at_limit` applies.
  std::optional<std::chrono::milliseconds> stall{};
  ending at_limit{ending::keep};  ///< at the limit, also when the reply is shorter than it
  std::size_t drip_bytes{0};      ///< 0: as fast as it goes
  std::chrono::milliseconds drip_interval{0};
};

struct exchange {
  http_reply reply{};
  wire_script wire{};
};

/// Does to a reply that has been made what the fault says.
void inflict(const fault::action& action, exchange& out);

/// The reply that a fault gives in place of the service's; empty optional when it gives none.
std::optional<http_reply> reply_instead(const fault::action& action, error_form form);

/// True when the fault keeps the request from being executed.
bool prevents(const fault::action& action);

}  // namespace emulator
