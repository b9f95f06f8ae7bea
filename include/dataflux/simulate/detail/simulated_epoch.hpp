#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/result.hpp>
#include <dataflux/simulate/detail/machine_store.hpp>
#include <dataflux/simulate/detail/simulated_threads.hpp>
#include <dataflux/store/memory_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A region of a cloud, seen from a machine in it.
struct simulated_network {
  double round_trip{0.020};
  /// Sigma of the logarithm of a request's round trip, and of its rate.
  double jitter{0.2};
  double rate_spread{0.2};
  double connection_rate{50e6};
  double total_rate{1.25e9};
  std::uint64_t seed{1};

  memory_store_options options() const;
};

/// What reads, and what is done with it.
struct epoch_plan {
  /// Bytes of each object. They are read in this order, and again, until there are `items`.
  std::vector<std::uint64_t> sizes{};
  std::uint64_t items{0};
  /// The consumer takes so many items, lets `step` seconds pass, lets them go, and asks again.
  std::size_t batch{1};
  double step{0};
  get_order order{get_order::as_asked};
  std::optional<compose_options> compose{};
  transfer_options transfer{};  ///< of each process

  /// Processes that make batches in turns, at least 1.
  std::size_t workers{1};
  /// Batches of each that are being made or ready. 0 = none is begun before it is asked for.
  std::size_t ahead{0};
  std::uint32_t processors{1};
  request_costs costs{};
  /// Of an item; 0 = there are no threads for it.
  std::uint64_t decode_nanoseconds{0};
  std::size_t decode_threads{1};

  /// The simulation ends when the consumer has had one of them, if not at the end.
  std::uint64_t enough_items{UINT64_MAX};
  std::uint64_t enough_bytes{UINT64_MAX};
};

/// What has happened up to a moment, of all processes.
struct epoch_sample {
  double time{0};
  std::uint64_t received{0};  ///< body bytes on the link
  std::uint64_t items{0};     ///< that the consumer has had
  double waited{0};           ///< seconds that the consumer has waited
  std::uint64_t held{0};
  std::uint64_t borrowed{0};
  int limit{0};
  std::size_t in_flight{0};
  std::uint64_t io_spent{0};         ///< nanoseconds of I/O threads
  std::uint64_t decode_spent{0};     ///< of those that decode
  std::uint64_t processor_spent{0};  ///< of all
};

/// A batch that the consumer has had.
struct epoch_batch {
  double time{0};
  double waited{0};  ///< up to then
  std::uint64_t items{0};
};

struct epoch_outcome {
  /// Every 10 ms, then the end. Long epochs have fewer: each second one is left out when there are
  /// 65,536.
  std::vector<epoch_sample> samples{};
  std::vector<epoch_batch> batches{};
  double last_pulled{0};  ///< when the last request was pulled: the end of the steady state
  std::uint64_t peak_held{0};
  std::uint64_t requests{0};  ///< reads
  std::uint64_t composed{0};
  std::uint64_t hedged{0};
  read_totals reads{};

  const epoch_sample& end() const { return samples.back(); }
  /// The last sample that is not later.
  const epoch_sample& at(double time) const;
};

/// An epoch through the real getter, over a simulated network, in simulated time. Simulations of
/// ours and of users are this one.
///
/// Errors: the first that an item has. Threads: one.
class simulated_epoch {
 public:
  simulated_epoch(const simulated_network& network, const epoch_plan& plan);
  ~simulated_epoch();

  memory_store& store() noexcept { return store_; }
  virtual_scheduler& clock() noexcept { return clock_; }
  /// Once.
  result<epoch_outcome> run(const std::stop_token& stop = {});

 private:
  /// One that makes batches.
  class process;

  double now() const;
  void ask();
  void take();
  void step();
  void tick();
  void note();
  epoch_sample sample() const;
  void fail(const error& why);
  void close();
  std::optional<get_request> request(std::uint64_t item);

  const epoch_plan plan_;
  virtual_scheduler clock_{};
  memory_store store_;
  simulated_processors processors_;
  std::vector<get_request> rows_{};
  std::vector<std::unique_ptr<process>> processes_{};
  time_point began_{};
  duration sample_every_{std::chrono::milliseconds(10)};
  std::uint64_t items_had_{0};
  std::uint64_t bytes_had_{0};
  std::uint64_t batches_had_{0};
  std::uint64_t batch_bytes_{0};  ///< of the batch that the consumer has
  double asked_at_{0};
  double waited_{0};
  bool waiting_{false};
  bool done_{false};
  std::optional<error> failure_{};
  epoch_outcome outcome_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/simulate/impl/simulated_epoch.ipp>
#endif
