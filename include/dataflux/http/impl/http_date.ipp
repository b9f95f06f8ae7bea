#pragma once

#include <dataflux/codec/detail/time_within.hpp>
#include <dataflux/http/detail/http_date.hpp>

#include <cstddef>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

DATAFLUX_INLINE std::optional<timestamp> parse_http_date(std::string_view text) {
  constexpr std::string_view months{"JanFebMarAprMayJunJulAugSepOctNovDec"};
  constexpr std::string_view shape{"???, ?? ??? ???? ??:??:?? GMT"};
  if (text.size() != shape.size()) return std::nullopt;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != '?' && shape[i] != text[i]) return std::nullopt;
  }
  const std::size_t month = months.find(text.substr(8, 3));
  if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
  char same[] = "YYYY-MM-DDThh:mm:ssZ";
  text.copy(same, 4, 12);
  same[5] = month < 27 ? '0' : '1';
  same[6] = static_cast<char>('0' + (month / 3 + 1) % 10);
  text.copy(same + 8, 2, 5);
  text.copy(same + 11, 8, 17);
  return codec::parse_time_within(same);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
