#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/concurrency.hpp>
#include <dataflux/transfer/detail/hedge.hpp>
#include <dataflux/transfer/detail/read_cache.hpp>
#include <dataflux/transfer/detail/read_member.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

struct read_engine_state;

struct read_engine_options {
  /// Reads. Requests beyond the first come on top: a twentieth more connections are of use.
  concurrency_options concurrency{};
  hedge_options hedge{};
};

/// Sends all reads of a client's streams. concurrency_control says how many at a time. read_turns
/// says whose turn it is, so that a large read leaves the others their share of the connections.
/// hedge_policy says which ones are asked for again, twice at most. The first of the requests to
/// deliver a body byte owns the destination; the others never touch it and are cancelled. The store
/// resumes a body that breaks off, as always. A body that falls behind is given up and begun anew:
/// its sink is rewound to 0. A read that waits for its turn holds no connection, and its time limit
/// runs. What the cache has takes no turn and is no part of the estimates.
///
/// Errors: the store's; cancelled or deadline_exceeded for a read that never had its turn. When
/// all requests of a read fail before a byte, the error is the first one's. start() throws
/// std::bad_alloc: then the read was not begun, and its completion does not come.
///
/// Lifetime: store and strand outlive the engine, and the engine all completions.
///
/// Threads: the strand. start() is called there; completions run there, never inside start().
///
/// Cost: beside the store's a copy of the request's names, one timer for all reads, and a copy of
/// the first bytes of a body. No allocation once as many reads as now were in flight before.
class read_engine {
 public:
  using completion = object_store::completion<read_summary>;

  read_engine(object_store& store, scheduler& strand, const read_engine_options& options = {});
  ~read_engine();
  read_engine(const read_engine&) = delete;
  read_engine& operator=(const read_engine&) = delete;

  /// As object_store::start(): the sink belongs to the caller and is borrowed until the completion.
  /// It counts as one of `whose`, or of the one member that all reads of nobody's have together.
  void start(const read_request& request, byte_sink& sink, completion done,
             read_member* whose = nullptr);

  /// For who reads several ranges by one request: each of them is looked for, what is missing is
  /// read past the cache, and each is kept.
  bool has_cache() const noexcept;
  /// What is read now comes from the cache, it seems: at once, for the processor's time alone.
  bool cache_is_warm() const noexcept;
  /// Before the first read: what answers reads before the store does.
  void set_cache(std::shared_ptr<read_cache> cache) noexcept;
  /// not_found where the cache does not have it.
  void look(const read_request& request, byte_sink& sink, completion done);
  void start_past_cache(const read_request& request, byte_sink& sink, completion done,
                        read_member& whose);
  void keep(const read_request& request, const read_summary& summary, bytes_view body) noexcept;
  /// What such a read brought was not what the object has: the next one asks the store.
  void forget(const read_request& request) noexcept;
  /// Where it is not known which read of the object it was. On any thread.
  void forget_object(std::string_view bucket, std::string_view object,
                     std::int64_t generation) noexcept;

  object_store& store() const noexcept;
  scheduler& strand() const noexcept;
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
  /// What the limit may soon be: as many as there may be, while it is not known that fewer do as
  /// well. Who reads much puts so many into the line.
  int reach() const noexcept;
  network_estimate estimate() const noexcept;
  const hedge_counters& hedges() const noexcept;

 private:
  /// The cache, if there is one and it takes such a read.
  read_cache* cache_for(const read_request& request) const noexcept;

  std::shared_ptr<read_engine_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/read_engine.ipp>
#endif
