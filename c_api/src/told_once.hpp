#pragma once

#include "queue.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace dataflux_c {

/// A source of one record, for what is told once and has no handle of its own.
class told_once final : public record_source {
 public:
  explicit told_once(std::uint64_t tag) noexcept : tag_(tag) {}

  left take(std::span<dataflux_record> into, std::size_t& count, queue_state&) override {
    dataflux_record& r = into[0] = {};
    r.tag = tag_;
    r.flags = DATAFLUX_RECORD_END;
    ++count;
    taken_ = true;
    return left::nothing;
  }
  bool taken() const noexcept { return taken_; }

 private:
  const std::uint64_t tag_;
  std::atomic<bool> taken_{false};
};

/// Rings for a source when the last who shares it lets go, on whatever thread that is.
class last_share {
 public:
  last_share(std::shared_ptr<queue_state> queue, std::uint64_t number) noexcept
      : queue_(std::move(queue)), number_(number) {}
  last_share(const last_share&) = delete;
  last_share& operator=(const last_share&) = delete;
  ~last_share() {
    quietly([this] { queue_->events().push({number_, errc::ok}); });
  }
  /// There is nothing to tell.
  void forget() { queue_->remove(number_); }

 private:
  const std::shared_ptr<queue_state> queue_;
  const std::uint64_t number_;
};

}  // namespace dataflux_c
