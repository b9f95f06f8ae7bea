#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/detail/fifo.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/exec/detail/bells.hpp>
#include <dataflux/observer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

enum class event_kind : std::uint8_t {
  log,           ///< observer::on_log()
  retry,         ///< observer::on_retry()
  progress,      ///< observer::on_list(), event_ring::progress_of() and tell_progress()
  token_needed,  ///< event_ring::need_token()
};
/// "log", "retry", "progress", "token_needed".
std::string_view to_string(event_kind kind) noexcept;

/// One kept event of an observer. Members that a kind lacks are empty or 0. No text holds a secret.
struct observed_event {
  event_kind kind{event_kind::log};
  /// Of a retry warning, of the others that are no log lines info.
  log_level level{log_level::info};
  std::chrono::system_clock::time_point time{};
  /// A log line, or why an attempt failed; of 1 KiB at most.
  std::string text{};
  /// Such as "objects.get"; of progress its kind, such as "listing".
  std::string verb{};
  std::string bucket{};
  /// Of a listing its prefix.
  std::string object{};
  /// Of a retry: the attempt that failed, from 1, and the wait before the next one.
  int attempt{0};
  duration delay{};
  /// Of progress: bytes done, and in all if known. Of a listing: entries, and an estimate of all.
  std::uint64_t done{0};
  std::uint64_t total{0};
  /// Of progress: progress_event::call, or list_event::call.
  std::uint64_t call{0};
};

/// Progress of a call. Views are valid during the call only.
struct progress_event {
  /// Such as "download".
  std::string_view what{};
  std::string_view bucket{};
  std::string_view object{};
  std::uint64_t done{0};
  /// 0 = not known.
  std::uint64_t total{0};
  /// The call has ended, whatever it achieved; `done` equal to `total` means that, too.
  bool last{false};
  /// Tells it from another call of the same kind and place.
  std::uint64_t call{0};
};

struct event_ring_options {
  /// Most events that it holds; 0 = 1,024.
  std::size_t capacity{0};
  /// Log lines below it are not kept.
  log_level least{log_level::info};
  /// Least time between two progress events of a call, except for its last one; 0 = 100 ms. Events
  /// left out do not count as dropped. A call is known by kind, place and number.
  duration progress_every{0};
};

/// Keeps a client's events until they are taken: for programs that cannot take calls from I/O
/// threads, such as in other languages.
///
///     event_ring events;
///     auto client = gcs::client::create(
///         {.credentials = make_set_tokens([&] { events.need_token(); }),
///          .observer = &events});
///     events.notify(queue, 7);
///     ... queue.next(...) ...   // {7, ok}: events.take(100) has some; then notify() again
///
/// A full ring drops new events and counts them. So it keeps the beginning of a problem, which
/// explains the rest, without gaps. token_needed is never dropped: one has a place besides the
/// capacity, and no second one is kept while it waits.
///
/// Errors: none. An event without memory counts as dropped.
///
/// Lifetime: as an observer, and of need_token() as long as the credentials. The queues of notify()
/// outlive it. In the child of a fork an inherited one keeps and gives nothing.
///
/// Threads: all members from any thread.
///
/// Cost: an event kept costs its texts and a short lock; one dropped a short lock. Requests cost
/// nothing: client::snapshot() counts them.
class event_ring final : public observer {
 public:
  explicit event_ring(const event_ring_options& options = {}) noexcept;

  /// At most `max`, oldest first; empty if no event waits.
  std::vector<observed_event> take(std::size_t max);
  /// Pushes {tag, ok} into `queue` once, as soon as take() has events; at once if it has already.
  void notify(completion_queue& queue, std::uint64_t tag);
  /// Cancels all requests of notify().
  void silence();
  /// How many were dropped since it was made.
  std::uint64_t dropped() const;

  /// For make_set_tokens(): token_needed, in time before the last one ends. It is the first
  /// that take() gives.
  void need_token() noexcept;
  /// For the `progress` of downloads, uploads and folders: adds up the bytes that it is called
  /// with. `total` and `call` as of progress_event.
  ///
  ///     request.progress = events.progress_of("download", request.bucket, request.object, size);
  std::function<void(std::uint64_t)> progress_of(std::string what, std::string bucket,
                                                 std::string object, std::uint64_t total = 0,
                                                 std::uint64_t call = 0);
  void tell_progress(const progress_event& event) noexcept;

  DATAFLUX_INLINE void on_log(log_level level, std::string_view line) noexcept override;
  DATAFLUX_INLINE void on_retry(const retry_event& event) noexcept override;
  DATAFLUX_INLINE void on_list(const list_event& event) noexcept override;

 private:
  template <class Fill>
  void keep(event_kind kind, Fill fill) noexcept;
  template <class Fill>
  void keep_locked(event_kind kind, Fill fill) noexcept;
  void ring() noexcept;
  bool too_soon(const progress_event& event, bool ends) noexcept;

  const event_ring_options options_;
  const detail::process_stamp born_{};
  mutable std::mutex mutex_{};
  detail::fifo<observed_event> events_{};
  detail::bells bells_{};
  std::uint64_t dropped_{0};
  std::optional<std::chrono::system_clock::time_point> token_needed_at_{};
  /// When progress of a call was kept last; by a hash of what the call is.
  std::unordered_map<std::size_t, time_point> last_progress_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/event_ring.ipp>
#endif
