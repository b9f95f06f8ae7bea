#pragma once

#include <dataflux/detail/fifo.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/store/detail/shared_link.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Processors that all threads of a simulated machine share evenly: what shared_link is for bytes,
/// with nanoseconds of a processor.
class simulated_processors {
 public:
  simulated_processors(scheduler& clock, std::uint32_t count)
      : time_(clock, 1e9, 1e9 * count), count_(count) {}
  void run(std::uint64_t nanoseconds, task then) {
    spent_ += nanoseconds;
    time_.start(nanoseconds, std::move(then));
  }
  std::uint32_t count() const noexcept { return count_; }
  /// Of all jobs that have begun.
  std::uint64_t spent() const noexcept { return spent_; }

 private:
  shared_link time_;
  const std::uint32_t count_;
  std::uint64_t spent_{0};
};

/// Threads of one kind, such as a client's I/O threads: each does one job at a time, and jobs begin
/// in their order.
class simulated_threads {
 public:
  /// `processors` outlive it.
  simulated_threads(simulated_processors& processors, std::size_t count) noexcept
      : processors_(processors), count_(count) {}
  simulated_threads(const simulated_threads&) = delete;
  simulated_threads& operator=(const simulated_threads&) = delete;

  /// Then `then` runs, inside the call if the job takes no time.
  void run(std::uint64_t nanoseconds, task then);
  /// Nanoseconds of the jobs that have begun.
  std::uint64_t spent() const noexcept { return spent_; }
  std::size_t count() const noexcept { return count_; }

 private:
  struct job {
    std::uint64_t nanoseconds{0};
    task then{};
  };
  void begin_more();

  simulated_processors& processors_;
  const std::size_t count_;
  std::size_t busy_{0};
  std::uint64_t spent_{0};
  fifo<job> waiting_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/simulate/impl/simulated_threads.ipp>
#endif
