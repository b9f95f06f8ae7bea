#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// What came out of a compressed file, and how its decoder ended.
struct decoded_file {
  std::string bytes{};
  std::optional<dataflux::error> failure{};
};

/// Decompresses a file that comes in pieces, into memory of `room` bytes at a time. A decoder that
/// breaks its contract fails with errc::internal.
template <class Decoder>
decoded_file decode_all(std::string_view file, std::size_t piece, std::size_t room) {
  Decoder decoder;
  decoded_file out;
  const auto broken = [&out](const char* what) {
    out.failure.emplace(dataflux::errc::internal, what);
    return out;
  };
  std::string memory(room, '\0');
  const dataflux::bytes_span output = std::as_writable_bytes(std::span<char>{memory});
  std::string_view input;
  while (true) {
    const auto step = decoder.decode(dataflux::as_bytes(input), output);
    if (!step) {
      out.failure = step.error();
      const auto again = decoder.decode({}, output);
      if (again || decoder.finish()) return broken("it goes on after an error");
      return out;
    }
    if (step->consumed > input.size() || step->produced > room) return broken("it takes too much");
    if (step->needs_input && step->consumed != input.size()) return broken("it needs what it has");
    if (!step->needs_input && step->consumed + step->produced == 0) return broken("it stands");
    out.bytes.append(memory, 0, step->produced);
    input.remove_prefix(step->consumed);
    if (!step->needs_input) continue;
    if (file.empty()) break;
    input = file.substr(0, piece);
    file.remove_prefix(input.size());
  }
  if (const auto ended = decoder.finish(); !ended) out.failure = ended.error();
  return out;
}
