#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/simulate/detail/simulated_threads.hpp>
#include <dataflux/store/detail/verb_list.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What a client's requests take besides the network. Nothing by default.
struct request_costs {
  std::uint64_t request_nanoseconds{0};
  double byte_nanoseconds{0};
  duration connecting{0};  ///< before the first request of a connection
  std::size_t io_threads{1};
  /// Memory of readers is not written: their bytes are never looked at, and memory that nobody has
  /// written is none.
  bool leaves_memory{false};
};

/// What reads have been so far.
struct read_totals {
  std::uint64_t reads{0};  ///< that ended well
  std::uint64_t bytes{0};  ///< of them
};

/// A simulated process's way to a simulated store: its reads wait for a connection where none is
/// idle, and when their bytes are there for one of its I/O threads, which works for them.
///
/// Lifetime: the store, the processors and what they run on outlive it, and its calls.
/// Threads: the scheduler's.
class machine_store final : public begins<machine_store> {
 public:
  machine_store(object_store& store, simulated_processors& processors, const request_costs& costs)
      : store_(store),
        costs_(costs),
        io_(processors, costs.io_threads),
        memory_(costs.leaves_memory ? piece_size : 0) {}

  DATAFLUX_INLINE store_traits traits() const noexcept override;
  DATAFLUX_INLINE dataflux::scheduler& executor() noexcept override;
  using begins<machine_store>::start;
  DATAFLUX_INLINE void start(const read_request& request, byte_sink& sink,
                             completion<read_summary> done) override;
  template <class Request>
  void begin(const Request& request, completion<typename Request::value> done) {
    store_.start(request, std::move(done));
  }

  const read_totals& totals() const noexcept { return totals_; }
  /// Of all I/O threads, nanoseconds.
  std::uint64_t spent() const noexcept { return io_.spent(); }

 private:
  static constexpr std::size_t piece_size = std::size_t{128} << 10U;
  /// Takes bytes in memory that all reads share, and tells the reader that he has them. A piece is
  /// used before the next one is prepared.
  class unfilled_sink;
  struct one_read;

  void send(const read_request& request, const std::shared_ptr<one_read>& read);
  void received(const std::shared_ptr<one_read>& read, result<read_summary> outcome);

  object_store& store_;
  const request_costs costs_;
  simulated_threads io_;
  std::size_t busy_{0};         ///< connections
  std::size_t connections_{0};  ///< all
  read_totals totals_{};
  std::vector<std::byte> memory_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/simulate/impl/machine_store.ipp>
#endif
