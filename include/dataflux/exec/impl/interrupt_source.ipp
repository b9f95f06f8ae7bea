#pragma once

#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/exec/detail/signals.hpp>
#include <dataflux/exec/interrupt_source.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <system_error>
#include <thread>
#include <utility>

#include <semaphore.h>
#include <unistd.h>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// The one source of the process. Its handler touches lock-free atomics and a semaphore,
/// all that POSIX lets a handler do.
class interrupt_watch {
 public:
  interrupt_watch() { ::sem_init(&arrived_, 0, 0); }
  interrupt_watch(const interrupt_watch&) = delete;
  interrupt_watch& operator=(const interrupt_watch&) = delete;
  ~interrupt_watch() {
    give_back();
    if (watcher_.joinable()) {
      ended_ = true;
      ::sem_post(&arrived_);
      watcher_.join();
    }
    ::sem_destroy(&arrived_);
  }

  /// False where no thread can be started.
  bool start() {
    try {
      const all_signals_blocked guard;
      watcher_ = std::thread([this] { watch(); });
    } catch (const std::system_error&) {
      return false;
    }
    take();
    return true;
  }

  std::stop_token token() const noexcept { return stop_.get_token(); }
  int signal() const noexcept { return first_; }

  /// The one of this process.
  static std::atomic<interrupt_watch*>& instance() noexcept {
    static std::atomic<interrupt_watch*> only{nullptr};
    return only;
  }
  /// In the child of a fork, where its thread is not.
  bool inherited() const noexcept { return born_.inherited(); }
  /// All signals but those that somebody else has handled since.
  void give_back() noexcept {
    for (std::size_t i = 0; i < numbers.size(); ++i) restore(i);
    interrupt_watch* self = this;
    instance().compare_exchange_strong(self, nullptr);
  }

 private:
  static constexpr std::array numbers{SIGINT, SIGTERM, SIGHUP};

  void take() noexcept {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      ::sigaction(numbers[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;
      struct sigaction ours {};
      ours.sa_handler = handle;
      ours.sa_flags = SA_RESTART;
      ::sigemptyset(&ours.sa_mask);
      ::sigaction(numbers[i], &ours, nullptr);
    }
  }
  void restore(std::size_t which) noexcept {
    struct sigaction now {};
    ::sigaction(numbers[which], nullptr, &now);
    if (now.sa_handler == handle) ::sigaction(numbers[which], &before_[which], nullptr);
  }

  static void handle(int number) {
    const int kept = errno;
    interrupt_watch* const watch = instance();
    if (watch != nullptr) watch->arrive(number);
    errno = kept;
  }
  void arrive(int number) noexcept {
    int none = 0;
    // In a forked child nobody watches.
    if (!inherited() && first_.compare_exchange_strong(none, number)) {
      ::sem_post(&arrived_);
      return;
    }
    give_back();
    ::raise(number);  // comes when the handler has returned
  }
  void watch() {
    while (::sem_wait(&arrived_) != 0) {
    }
    if (!ended_) stop_.request_stop();
  }

  const process_stamp born_{};
  std::array<struct sigaction, numbers.size()> before_{};
  ::sem_t arrived_{};
  std::atomic<int> first_{0};
  std::atomic<bool> ended_{false};
  std::stop_source stop_{};
  std::thread watcher_{};
};
static_assert(std::atomic<int>::is_always_lock_free);
static_assert(std::atomic<interrupt_watch*>::is_always_lock_free);

}  // namespace detail

DATAFLUX_INLINE interrupt_source::interrupt_source(
    std::unique_ptr<detail::interrupt_watch> watch) noexcept
    : watch_(std::move(watch)) {}
DATAFLUX_INLINE interrupt_source::interrupt_source(interrupt_source&&) noexcept = default;
DATAFLUX_INLINE interrupt_source& interrupt_source::operator=(interrupt_source&& other) noexcept {
  if (this != &other) {
    close();
    watch_ = std::move(other.watch_);
  }
  return *this;
}
DATAFLUX_INLINE interrupt_source::~interrupt_source() { close(); }

DATAFLUX_INLINE void interrupt_source::close() noexcept {
  if (watch_ == nullptr) return;
  if (!watch_->inherited()) return watch_.reset();
  watch_->give_back();
  static_cast<void>(watch_.release());  // its thread is the parent's, and cannot be joined
}

DATAFLUX_INLINE result<interrupt_source> interrupt_source::create() {
  auto made = std::make_unique<detail::interrupt_watch>();
  auto& only = detail::interrupt_watch::instance();
  // An inherited source watches nothing in a forked child.
  if (auto* const there = only.load(); there != nullptr && there->inherited()) there->give_back();
  detail::interrupt_watch* none = nullptr;
  if (!only.compare_exchange_strong(none, made.get())) {
    return error(errc::failed_precondition,
                 "this process has an interrupt_source; hand its token() to whoever needs one");
  }
  if (!made->start()) {
    return error(errc::resource_exhausted, "no thread can be started to wait for signals");
  }
  return interrupt_source(std::move(made));
}

DATAFLUX_INLINE std::stop_token interrupt_source::token() const noexcept { return watch_->token(); }
DATAFLUX_INLINE int interrupt_source::signal() const noexcept { return watch_->signal(); }

}  // namespace dataflux::inline DATAFLUX_ABI
