#pragma once

#include <emulator/message.hpp>

#include <string>
#include <vector>

namespace emulator {

/// One call of a batch (protocol.md 1.9): its texts are owned, its headers end with those of the
/// outer request that it does not override.
struct batched_call {
  std::string content_id{};
  std::string method{};
  std::string target{};
  std::vector<header_line> headers{};
  std::string body{};
};

/// The calls of a batch request. Throws service_error 400 on a malformed body, on more than 100
/// calls and on more than 10 MiB. Lines may end in LF alone, since clients send such bodies.
std::vector<batched_call> parse_batch(const http_request& request);

/// The reply to a batch whose calls were answered so, in order.
http_reply batch_reply(const std::vector<batched_call>& calls,
                       const std::vector<http_reply>& replies);

}  // namespace emulator
