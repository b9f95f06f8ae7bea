#pragma once

#include <dataflux/exec/completion_queue.hpp>

#include <support/catch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// The tags that the queue was told since the last call, all of them with ok.
inline std::vector<std::uint64_t> tags_told(dataflux::completion_queue& queue) {
  std::vector<std::uint64_t> tags;
  std::array<dataflux::completion_event, 4> events;
  while (const std::size_t count = queue.next(events, dataflux::duration::zero())) {
    for (const auto& event : std::span(events).first(count)) {
      CHECK(event.code == dataflux::errc::ok);
      tags.push_back(event.tag);
    }
  }
  return tags;
}
