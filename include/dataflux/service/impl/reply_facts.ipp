#pragma once

#include <dataflux/http/detail/http_date.hpp>
#include <dataflux/service/detail/reply_facts.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

DATAFLUX_INLINE std::optional<timestamp> time_of(const reply_facts& facts) {
  return http::parse_http_date(facts.date);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
