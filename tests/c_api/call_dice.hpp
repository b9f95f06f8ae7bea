#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

/// What is thrown next comes from the input, and is 0 when that has ended.
class call_dice {
 public:
  explicit call_dice(std::span<const std::byte> input) noexcept : left_(input) {}
  bool ended() const noexcept { return left_.empty(); }
  /// Less than `bound`, which is at most 256.
  std::size_t below(std::size_t bound) noexcept {
    if (left_.empty()) return 0;
    const auto value = static_cast<std::size_t>(left_.front());
    left_ = left_.subspan(1);
    return value % bound;
  }
  bool chance(std::size_t in) noexcept { return below(in) == 1; }
  std::uint64_t number() noexcept {
    std::uint64_t value = 0;
    const std::size_t size = left_.size() < sizeof value ? left_.size() : sizeof value;
    std::memcpy(&value, left_.data(), size);
    left_ = left_.subspan(size);
    return value;
  }

 private:
  std::span<const std::byte> left_;
};
