#pragma once

#include <dataflux/exec/detail/stop_watch.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE void stop_watch::watch(const std::stop_token& token, const listener& told) {
  watched_.emplace(token, told);
}

DATAFLUX_INLINE void stop_watch::forget() noexcept { watched_.reset(); }

}  // namespace dataflux::inline DATAFLUX_ABI::detail
