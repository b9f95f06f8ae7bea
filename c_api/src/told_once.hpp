#pragma once

#include "queue.hpp"

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/exec/detail/bells.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

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

/// Whom a writer is to tell of room: it may ring them for as long as it lives.
class told_of_room {
 public:
  /// `notify(queue, number)` asks the writer.
  template <class Notify>
  result<void> ask(const std::shared_ptr<queue_state>& queue, std::uint64_t tag, Notify notify) {
    std::erase_if(asked_, [](const asked& each) { return each.source->taken(); });
    const auto source = std::make_shared<told_once>(tag);
    asked_.reserve(asked_.size() + 1);
    auto number = queue->add(source);
    if (!number) return std::move(number).error();
    asked_.push_back({queue, *number, source});
    notify(queue->events(), *number);
    return {};
  }
  /// No record comes any more.
  void end() {
    for (const asked& each : asked_) each.queue->remove(each.number);
  }

 private:
  struct asked {
    std::shared_ptr<queue_state> queue;
    std::uint64_t number;
    std::shared_ptr<told_once> source;
  };
  std::vector<asked> asked_{};
};

/// Rings for a source when the last who shares it lets go, on whatever thread that is.
class last_share {
 public:
  explicit last_share(std::shared_ptr<queue_state> queue) noexcept : queue_(std::move(queue)) {}
  last_share(const last_share&) = delete;
  last_share& operator=(const last_share&) = delete;
  ~last_share() { bell_.ring(); }
  /// From now on it is known to the queue by this number.
  void name(std::uint64_t number) {
    dataflux::detail::taken_back_unless_kept known([&] { queue_->remove(number); });
    bell_.add(queue_->events(), number);
    number_ = number;
    known.kept();
  }
  /// There is nothing to tell.
  void forget() {
    bell_.clear();
    queue_->remove(std::exchange(number_, 0));
  }

 private:
  const std::shared_ptr<queue_state> queue_;
  std::uint64_t number_{0};
  /// It needs no memory to ring.
  dataflux::detail::bells bell_{};
};

}  // namespace dataflux_c
