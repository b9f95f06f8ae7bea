#pragma once

#include <dataflux/deadline.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// How much has moved since a moment: what exchange_limits::least_bytes is held against.
class byte_window {
 public:
  void open(time_point now, std::uint64_t moved) noexcept {
    from_ = now;
    moved_ = moved;
  }
  /// `never` for a length of 0.
  time_point end(duration length) const noexcept {
    return length == duration::zero() ? never : deadline_after(from_, length);
  }
  std::uint64_t since(std::uint64_t moved) const noexcept { return moved - moved_; }

 private:
  time_point from_{};
  std::uint64_t moved_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
