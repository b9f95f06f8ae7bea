#pragma once

#include <dataflux/detail/config.hpp>

#include <cstddef>
#include <cstdint>

/// Composites: objects that exist for one read. Many small objects are concatenated by the service,
/// read as one, sliced, and the composite is removed. What is asked of a caller, and the pure part:
/// which objects go together.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// Objects that become one, gathered one by one in the order in which they are asked for. Counts an
/// object before it is taken in, so that neither limit is ever passed; of one that is empty, or
/// alone too large, nothing is composed.
class composite_group {
 public:
  composite_group(std::uint64_t max_bytes, std::size_t max_objects) noexcept
      : max_bytes_(max_bytes), max_objects_(max_objects) {}

  /// False, and nothing is changed, when the object does not fit; the next group begins with it.
  bool add(std::uint64_t size) noexcept {
    if (size == 0 || objects_ == max_objects_ || size > max_bytes_ - bytes_) return false;
    ++objects_;
    bytes_ += size;
    return true;
  }
  std::size_t objects() const noexcept { return objects_; }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::uint64_t max_bytes_;
  std::size_t max_objects_;
  std::size_t objects_{0};
  std::uint64_t bytes_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
