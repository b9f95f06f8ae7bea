#pragma once

#include <dataflux/codec/detail/percent.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

inline std::string percent_text(std::string_view text) {
  std::string out;
  dataflux::detail::codec::append_percent(out, text);
  return out;
}

/// Any bytes, to be encoded, and taken for a text. Aborts when a broken invariant shows.
void fuzz_percent(std::span<const std::byte> input);
