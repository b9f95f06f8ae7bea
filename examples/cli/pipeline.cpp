#include "pipeline.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cli {

namespace {
/// The feeding thread stops at so many waiting steps and goes on at half of them.
constexpr std::size_t longest_line = 64;
/// What a file thread takes at once.
constexpr std::size_t most_at_once = 16;
}  // namespace

pipeline::pipeline(dataflux::scheduler& io, const limits& most)
    : io_(io), budget_(most.bytes, most.requests) {
  for (unsigned i = 0; i < most.file_threads; ++i) threads_.emplace_back([this] { run(); });
}

pipeline::~pipeline() {
  {
    std::unique_lock lock(mutex_);
    all_ended_.wait(lock, [this] { return items_ == 0 && wakers_ == 0; });
    end_ = true;
  }
  work_there_.notify_all();
  for (auto& thread : threads_) thread.join();
}

pipeline::item pipeline::begin_item() {
  std::scoped_lock lock(mutex_);
  ++items_;
  return item(*this);
}

void pipeline::item_ended() noexcept {
  std::scoped_lock lock(mutex_);
  if (--items_ == 0) all_ended_.notify_all();
}

void pipeline::wait() {
  std::unique_lock lock(mutex_);
  all_ended_.wait(lock, [this] { return items_ == 0; });
}

void pipeline::admit(std::size_t bytes, begin step) {
  {
    std::unique_lock lock(mutex_);
    if (line_ >= longest_line) {
      line_shorter_.wait(lock, [this] { return line_ <= longest_line / 2; });
    }
    ++line_;
  }
  enqueue(bytes, [this, step = std::move(step)](dataflux::budget_share share) mutable {
    {
      std::scoped_lock lock(mutex_);
      if (--line_ == longest_line / 2) line_shorter_.notify_one();
    }
    step(std::move(share));
  });
}

void pipeline::enqueue(std::size_t bytes, begin step) {
  // What does not fit the budget at all gets all of it.
  const std::size_t room = std::min(bytes, budget_.max_bytes());
  budget_.acquire(room, [step = std::move(step)](auto share) mutable {
    step(share ? std::move(*share) : dataflux::budget_share{});
  });
}

void pipeline::on_file_thread(dataflux::task work) {
  {
    std::scoped_lock lock(mutex_);
    work_.push_back(std::move(work));
    if (idle_ == 0 || std::exchange(waking_, true)) return;
    ++wakers_;
  }
  io_.post([this] { wake_threads(); });
}

void pipeline::wake_threads() {
  std::unique_lock lock(mutex_);
  waking_ = false;
  std::size_t hands = std::min(idle_, (work_.size() + most_at_once - 1) / most_at_once);
  lock.unlock();
  // Without the lock, for which the woken would only have to wait again.
  while (hands-- > 0) work_there_.notify_one();
  lock.lock();
  if (--wakers_ == 0) all_ended_.notify_all();
}

void pipeline::run() {
  std::vector<dataflux::task> taken;
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    work_there_.wait(lock, [this] { return end_ || !work_.empty(); });
    --idle_;
    if (work_.empty()) return;
    const auto count = static_cast<std::ptrdiff_t>(std::min(work_.size(), most_at_once));
    std::move(work_.begin(), work_.begin() + count, std::back_inserter(taken));
    work_.erase(work_.begin(), work_.begin() + count);
    lock.unlock();
    for (auto& work : taken) work();
    taken.clear();
    lock.lock();
  }
}

}  // namespace cli
