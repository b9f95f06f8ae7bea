#pragma once

#include <dataflux/detail/config.hpp>

#include <unistd.h>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A descriptor that is closed with it. Below 0 it is none: errno says why, if it was just opened.
class descriptor {
 public:
  explicit descriptor(int opened) noexcept : opened_(opened) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (opened_ >= 0) ::close(opened_);
  }
  int get() const noexcept { return opened_; }
  /// The caller closes it.
  int take() noexcept { return std::exchange(opened_, -1); }

 private:
  int opened_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
