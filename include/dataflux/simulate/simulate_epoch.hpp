#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/detail/config.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_columns.hpp>

#include <cstdint>
#include <stop_token>
#include <string_view>
#include <vector>

/// How long an epoch would take, what would bound it, and what it would cost: before a machine is
/// rented or an object written.
///
///     const auto told = simulate_epoch({.objects = {{.bytes = 100 << 10, .count = 1'000'000}},
///                                       .link = 200e6, .batch = 64, .step = 40ms}).value();
///     told.samples_per_second;  told.waited;  told.price;  explain(told.bound);
///
/// The library's own getter reads a memory_store in simulated time, by the decisions that it makes
/// over a socket: how many reads are in flight, how far ahead, when to ask twice. docs/simulate.md
/// says how near that came to measured epochs.
namespace dataflux::inline DATAFLUX_ABI {

/// So many objects of so many bytes, each of which is a sample.
struct objects_of_size {
  std::uint64_t bytes{0};
  std::uint64_t count{0};
};

/// Those of a listing or a manifest. Sizes that differ by less than 1.6 % count as their mean.
/// Cost: a pass over the sizes; 4,096 counters.
std::vector<objects_of_size> objects_of(const object_columns& rows);

/// US dollars. The defaults are those of https://cloud.google.com/storage/pricing for STANDARD in a
/// region of the United States, read in September 2026; S3 had the same ones.
struct request_prices {
  double class_a{5.0};  ///< of a million operations (protocol.md 3.4)
  double class_b{0.4};  ///< of a million
  double gib{0};        ///< of a GiB that leaves the region; reads in a region are free
};

/// What is to be simulated. 0 is the default of each member that names one.
struct epoch_model {
  /// In any order, none of them larger than `memory`.
  std::vector<objects_of_size> objects{};
  /// Times that all objects are read. 0 = 1.
  std::uint64_t epochs{0};
  /// The bucket is listed first. Else a manifest in a file is there.
  bool listed{false};

  /// Bytes a second of the machine; above 0.
  double link{0};
  /// Bytes a second of one connection. 0 = 50 MB/s, which is usual at Google's.
  double connection_rate{0};
  /// From a request to the first byte of its reply. 0 = 20 ms.
  duration round_trip{0};
  /// Sigma of the logarithm of a request's round trip, and of its rate. 0 = 0.2; below 0 = none.
  double spread{0};
  /// Round trips before the first request of a connection. 0 = 2: TCP and TLS 1.3.
  std::uint32_t connecting_trips{0};

  /// Processors of the machine. 0 = 4.
  std::uint32_t processors{0};
  /// Processes that make batches in turns, each with two of them ahead. 0 = the training process
  /// reads by itself.
  std::uint32_t workers{0};
  /// Bytes that each process may hold for reads: transfer_options::memory_cap. 0 = 256 MiB.
  std::uint64_t memory{0};
  /// Most reads of each process in flight. 0 = 256.
  std::uint32_t concurrency{0};
  /// Processor time of a request. 0 = 20 us.
  duration request_time{0};
  /// Processor time of a byte that arrives, in nanoseconds. 0 = 0.65, which is TLS by OpenSSL 3.0;
  /// it is 0.2 by OpenSSL 3.5, and 0.1 without TLS.
  double byte_nanoseconds{0};
  /// Processor time that decoding a sample takes, and threads of each process that decode. 0 = no
  /// time; 1 thread.
  duration decode{0};
  std::uint32_t decode_threads{0};

  get_order order{get_order::as_asked};
  /// Samples of a batch. 0 = 1.
  std::uint64_t batch{0};
  /// How long the training step takes for a batch. 0 = it takes as fast as it can.
  duration step{0};

  request_prices prices{};
  /// Of all dice. Equal models give equal forecasts on every machine. 0 = 1.
  std::uint64_t seed{0};
};

/// What there is not enough of.
enum class epoch_bound : std::uint8_t {
  step,         ///< the training step: it hardly waits
  link,         ///< the link is full
  processors,   ///< the client's threads, or all processors, are busy with requests and bytes
  decoding,     ///< the threads that decode are busy
  memory,       ///< the reads that memory has room for, by the time that each takes
  concurrency,  ///< the reads that may be in flight, by the time that each takes
  start,        ///< it is over, or has done most of its waiting, before it has found its pace
};

/// Its name: "link".
std::string_view to_string(epoch_bound bound) noexcept;
/// A sentence that says what bounds, and what helps.
std::string_view explain(epoch_bound bound) noexcept;

/// What an epoch would be. All epochs together, where the model has several.
struct epoch_forecast {
  double seconds{0};
  double first_batch{0};  ///< seconds
  double samples_per_second{0};
  double bytes_per_second{0};
  double link_share{0};        ///< of the link, that samples use
  double processors_share{0};  ///< of all processors, that requests, bytes and decoding take
  double waited{0};            ///< share of the time that the training step waits
  std::uint64_t samples{0};
  std::uint64_t bytes{0};
  /// Of a listing one for each page of 1,000; docs/tuning.md says how many more it may be.
  std::uint64_t class_a{0};
  std::uint64_t class_b{0};
  std::uint64_t hedged{0};       ///< of those of class B: asked for again because they were late
  double price{0};               ///< US dollars
  std::uint64_t peak_memory{0};  ///< bytes read ahead or being read, of all processes
  double in_flight{0};           ///< reads, on the average
  epoch_bound bound{epoch_bound::start};
  /// Share of the samples that were simulated. Below 1 the rest goes on as these ended.
  double simulated{1};
};

/// Simulates the beginning of the epoch, up to 30,000 samples or 4 GiB, whichever comes first (with
/// large batches or much memory more); then reckons with the pace of the second half of that. An
/// epoch of fewer is simulated as a whole. Of more than 4,096 objects so many stand for all, each
/// with the mean size of those that it stands for.
///
/// What it does not know: refusals of the service for a rate, a slow start of TCP, other programs
/// of the machine, what a training loop does between a batch and its step.
///
/// Errors: invalid_argument names the member, such as memory that is less than an object;
/// resource_exhausted where this process is short of memory; cancelled by `stop`.
///
/// Threads: any. It uses no thread, socket, clock or file.
///
/// Cost: at most a few seconds. Memory: what the processes hold, up to 4 GiB of them together. If
/// they may hold more, each has less, but room for its largest objects: longer stalls than there
/// are here are then bridged worse.
result<epoch_forecast> simulate_epoch(const epoch_model& model, const std::stop_token& stop = {});

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/simulate/impl/simulate_epoch.ipp>
#endif
