#pragma once

#include <dataflux/exec/budget.hpp>
#include <dataflux/exec/scheduler.hpp>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace cli {

/// Bounds what is under way, and owns the threads that may block on files: completions of the
/// client come on its I/O threads, which must not.
///
/// One thread feeds it by admit(); each admitted step starts on whichever thread frees the room for
/// it, so that the feeding thread is woken once for many steps. Destruction waits for all items.
class pipeline {
 public:
  using begin = dataflux::unique_function<void(dataflux::budget_share)>;

  struct limits {
    /// Of buffers, in bytes; one step may not need more.
    std::size_t bytes{std::size_t{256} << 20U};
    /// Requests in flight.
    std::size_t requests{128};
    /// Each is woken when the others have a full hand, so on fast disks one or two do all.
    unsigned file_threads{8};
  };

  /// An item that is not finished; wait() waits for it to be destroyed. Move-only.
  class item {
   public:
    explicit item(pipeline& owner) noexcept : owner_(&owner) {}
    item(item&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    item& operator=(item&&) = delete;
    ~item() {
      if (owner_ != nullptr) owner_->item_ended();
    }

   private:
    pipeline* owner_;
  };

  /// `io`: of the client whose completions come here. Borrowed.
  pipeline(dataflux::scheduler& io, const limits& most);
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;
  ~pipeline();

  item begin_item();
  /// Calls `step` as soon as there is room for a request with `bytes` of memory. Blocks while many
  /// steps wait already; not for completions.
  void admit(std::size_t bytes, begin step);
  /// The same without ever blocking.
  void enqueue(std::size_t bytes, begin step);
  /// Runs `work` on a thread that may block. Those threads are woken at the end of the I/O thread's
  /// turn, once for all the work that it brought.
  void on_file_thread(dataflux::task work);
  /// Until every item has ended.
  void wait();

 private:
  void item_ended() noexcept;
  void wake_threads();
  void run();

  dataflux::scheduler& io_;
  dataflux::budget budget_;
  std::mutex mutex_{};
  std::condition_variable line_shorter_{};
  std::condition_variable work_there_{};
  std::condition_variable all_ended_{};
  std::size_t line_{0};
  std::size_t items_{0};
  std::size_t idle_{0};
  bool waking_{false};     ///< wake_threads() is to come, and will see what is there
  std::size_t wakers_{0};  ///< calls of it that have not ended
  bool end_{false};
  std::vector<dataflux::task> work_{};
  std::vector<std::thread> threads_{};
};

}  // namespace cli
