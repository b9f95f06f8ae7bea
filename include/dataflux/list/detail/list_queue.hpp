#pragma once

#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/exec/detail/bells.hpp>
#include <dataflux/exec/detail/stop_watch.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Who puts pages into an queue, as the reader's side sees it.
class list_source {
 public:
  list_source() = default;
  list_source(const list_source&) = delete;
  list_source& operator=(const list_source&) = delete;
  virtual ~list_source() = default;

  /// Asks for an early end; any thread.
  virtual void stop() noexcept = 0;
  /// The reader has taken something; any thread.
  virtual void wake() = 0;
};

/// Between a coordinator, which puts pages in, and the reader of a stream, who takes them.
/// The only state of a listing that several threads touch. All members are thread-safe; completions
/// are called without any lock.
class list_queue : public std::enable_shared_from_this<list_queue> {
 public:
  using page = std::optional<listed_page>;
  using completion = object_store::completion<page>;

  // The coordinator's side.
  void attach(std::weak_ptr<list_source> coordinator);
  /// Hands a page to the first who waits, or keeps it.
  void put(listed_page next, const list_summary& so_far);
  /// Nothing more will come. With an error of code cancelled the pages kept are dropped.
  void end(std::optional<error> failure, list_summary total);
  /// Of the pages kept.
  std::size_t bytes() const;
  /// Wakes `coordinator` when less than `bytes` are kept, for which it is kept alive. False if that
  /// is so already.
  bool park(std::shared_ptr<list_source> coordinator, std::size_t bytes);
  /// Runs `act` unless the reader is gone, who does not go while it runs.
  template <class Act>
  void while_open(Act&& act) {
    std::scoped_lock lock(gate_);
    if (!closed_) std::forward<Act>(act)();
  }

  // The reader's side.
  /// A page that is there, or the end; nothing when it is still to come.
  std::optional<result<page>> try_take();
  /// `done` gets the next page later. A stop requested on `stop` cancels the listing.
  void wait(completion done, const std::stop_token& stop);
  /// Rings once a page is there, or the end; now if it is already.
  void notify(completion_queue& queue, std::uint64_t tag);
  void cancel() noexcept;
  void stop_heard() noexcept { cancel(); }
  void close() noexcept;
  list_summary summary() const;
  bool inherited() const noexcept { return born_.inherited(); }

 private:
  struct kept_page {
    listed_page page;
    std::size_t bytes;
  };
  struct waiter {
    completion done;
    std::unique_ptr<stop_link<list_queue>> on_stop{};
  };
  result<page> outcome() const;
  static void serve(waiter served, result<page> with);

  const process_stamp born_{};
  /// Held for the length of a call into the store; never together with mutex_.
  std::mutex gate_{};
  bool closed_{false};
  mutable std::mutex mutex_{};
  std::list<kept_page> pages_{};  ///< an empty one takes no memory
  std::size_t bytes_{0};
  std::list<waiter> waiters_{};
  bells bells_{};
  bool ended_{false};
  std::optional<error> failure_{};
  list_summary summary_{};
  std::weak_ptr<list_source> coordinator_{};
  std::shared_ptr<list_source> parked_{};
};

/// Memory that a page holds.
std::size_t memory_of(const object_columns& objects, const std::vector<std::string>& prefixes);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/list_queue.ipp>
#endif
