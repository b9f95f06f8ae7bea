#pragma once

#include <dataflux/byte_sink.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/concurrency.hpp>
#include <dataflux/transfer/hedge.hpp>
#include <dataflux/transfer/read_member.hpp>

#include <cstddef>
#include <memory>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
struct read_engine_state;
}

struct read_engine_options {
  /// Reads. Second requests come on top: a twentieth more connections are of use.
  concurrency_options concurrency{};
  hedge_options hedge{};
};

/// Where all reads of a client's streams meet: as many at a time as concurrency_control finds
/// worth while, and whose turn it is read_turns says, so that a large read leaves the others their
/// share of the connections; each asked for a second time when hedge_policy says so.
/// The first of the two to deliver a body byte owns the destination, the other one never touches it
/// and is cancelled. What breaks off in mid-body is resumed by the store, as always.
///
/// A read that waits for its turn holds no connection, and its time limit runs. Errors are the
/// store's, and cancelled or deadline_exceeded for one that never had its turn. When both requests
/// of a read fail before a byte, the error is the first one's.
///
/// Everything happens on `home`: start() is to be called there, completions run there, never inside
/// start(). Store and home outlive the engine, and the engine all completions. Cost beside the
/// store's: two allocations a read, one timer, and a copy of the first 512 bytes of its body.
class read_engine {
 public:
  using completion = object_store::completion<read_summary>;

  read_engine(object_store& store, scheduler& home, const read_engine_options& options = {});
  ~read_engine();
  read_engine(const read_engine&) = delete;
  read_engine& operator=(const read_engine&) = delete;

  /// As object_store::start(): the sink belongs to the caller and is borrowed until the completion.
  /// It counts as one of `whose`, or of the one member that all reads of nobody's have together.
  void start(read_request request, byte_sink& sink, completion done, read_member* whose = nullptr);

  object_store& store() const noexcept;
  scheduler& home() const noexcept;
  /// Whether a read of `member` would be sent at once. If not it stands in line, although it has
  /// not said yet what it reads, and is woken when its turn comes: then it asks again or leaves,
  /// for the connection is kept for it.
  bool may_start(read_member& member);
  /// It has nothing to start.
  void leave(read_member& member);
  /// Reads that wait for their turn, and reads under way.
  std::size_t waiting() const noexcept;
  std::size_t in_flight() const noexcept;
  int limit() const noexcept;
  network_estimate estimate() const noexcept;
  const hedge_counters& hedges() const noexcept;

 private:
  std::shared_ptr<detail::read_engine_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/read_engine.ipp>
#endif
