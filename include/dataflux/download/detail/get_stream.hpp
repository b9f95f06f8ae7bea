#pragma once

#include <dataflux/detail/fifo.hpp>
#include <dataflux/download/detail/composer.hpp>
#include <dataflux/download/detail/get_batch.hpp>
#include <dataflux/download/detail/get_queue.hpp>
#include <dataflux/download/detail/get_unit.hpp>
#include <dataflux/download/detail/piece_source.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/store/detail/coordinator.hpp>
#include <dataflux/store/detail/late_failure.hpp>
#include <dataflux/transfer/detail/ranged_read.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>
#include <dataflux/transfer/detail/window.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The stream of a getter. All of it happens on the strand, in one task for whatever has
/// occurred since the last one, but for wake(), cancel(), and the queue.
class get_stream final : public read_member, public coordinator<get_stream> {
 public:
  get_stream(std::shared_ptr<transfer_state> core, get_many_request request, piece_source source);
  /// Of one request, without a source.
  get_stream(std::shared_ptr<transfer_state> core, get_many_request request, get_request only);
  void start() { coordinator::start(request_.bucket); }
  /// On any thread.
  DATAFLUX_INLINE void wake() override;
  void cancel();
  get_queue& queue() noexcept { return queue_; }
  const std::string& bucket() const noexcept { return request_.bucket; }

  // By the coordinator.
  void begin();
  void refused(const error& why);
  void stop_heard() noexcept;
  void time_passed();
  void fall_short(error why);

 private:
  void wake_next_turn();
  /// Short of memory, the next one who wakes it does what this one could not.
  template <class Post>
  void post_once(Post post) {
    if (posted_.exchange(true, std::memory_order_acq_rel)) return;
    taken_back_unless_kept posted([this] { posted_.store(false, std::memory_order_release); });
    post();
    posted.kept();
  }
  void woken();
  void advance();
  void learn();
  void fill();
  void hand_over();
  void stop(error why, bool drop);
  void end_late();
  void settle();

  void pull();
  void add(std::unique_ptr<get_unit> unit);
  void finish();
  bool pull_request(get_piece& into);
  bool next_request(get_piece& into);
  bool has_next();
  bool groups(const get_piece& p) const noexcept;
  void gather(get_unit& unit);
  void add_sources(std::unique_ptr<get_unit> unit);
  void start_unit(get_unit& unit, std::uint64_t bytes);
  /// Where the piece's bytes go; false, and it has failed, if there is no memory.
  bool place(get_piece& p, std::uint64_t length);
  /// Of the unit's one piece.
  const read_request& ask(const get_unit& unit, byte_range range);
  template <class Begin>
  void counted(Begin begin);
  void read(get_unit& unit);
  void read_part(get_unit& unit, std::uint64_t most);
  void read_ranges(get_unit& unit);
  std::uint64_t slice_of() const;
  std::uint64_t set_aside(get_unit& unit);
  void read_more(get_unit& unit);
  void read_group(get_unit& unit);
  void read_composite(get_unit& unit);
  bool batches(const get_piece& p) const noexcept;
  void add_batch(std::unique_ptr<get_unit> unit);
  void add_each(std::unique_ptr<get_unit> unit);
  void read_batch(get_unit& unit);
  std::size_t batch_limit() const noexcept {
    return batches_work_ || most_batched_ <= 1 ? most_batches : first_batches;
  }
  call_limits limits(const get_unit& unit) const;

  bool ended(get_unit& unit, const error* why);
  bool ended(get_unit& unit);
  void got(get_unit& unit, const result<read_summary>& outcome);
  void got_part(get_unit& unit, const result<read_summary>& outcome);
  void read_larger(get_unit& unit);
  void got_ranges(get_unit& unit, const result<ranged_read_summary>& outcome);
  void fail(get_unit& unit, const error& why);
  /// The piece is larger than the memory cap.
  void fail_for_cap(get_piece& p) const;
  /// Of a piece whose length has turned out: whether there is memory for it now. Else it waits for
  /// that, or has failed.
  bool has_room(get_unit& unit, std::uint64_t bytes, bool by_parts);
  void forget_bytes_of(const get_piece& p) noexcept;
  bool reads_again(get_unit& unit);
  void done(get_unit& unit);
  void ready(get_unit& unit);
  void drop(std::uint64_t number);
  void forget(get_unit& unit);
  void release(get_unit& unit);

  get_unit& at(std::uint64_t number) noexcept {
    return *units_[static_cast<std::size_t>(number - first_)];
  }
  std::unique_ptr<get_unit> fresh_unit();

  const std::shared_ptr<transfer_state> core_;
  piece_source source_;
  const get_many_request request_;
  read_request asked_{};  ///< the last one, for the capacity of its strings
  get_queue queue_;
  std::atomic<bool> posted_{false};
  std::atomic<bool> cancelled_{false};
  std::optional<read_window> window_{};
  /// By number from `first_` on; empty where the reader has had it.
  fifo<std::unique_ptr<get_unit>> units_{};
  std::uint64_t first_{0};
  std::uint64_t next_put_{0};  ///< in order: what is handed over next
  std::vector<std::unique_ptr<get_unit>> spare_{};
  std::vector<get_unit*> ready_{};  ///< as ready: to be handed over
  std::vector<get_unit*> batch_{};
  std::vector<get_event> events_{};
  std::optional<composer> composer_{};
  const bool ranges_tell_checksum_{store().traits().ranges_tell_checksum};
  std::size_t most_batched_;         ///< objects of a batch; less than two: there are none
  std::size_t batches_{0};           ///< under way
  bool batches_work_{false};         ///< one has
  std::optional<get_piece> next_{};  ///< pulled, and not in a unit yet
  std::uint64_t pulled_{0};
  std::size_t unput_{0};  ///< units that the queue has not
  bool exhausted_{false};
  bool dry_{false};  ///< the source had nothing yet
  bool finished_{false};
  bool stopped_{false};
  bool timed_out_{false};  ///< the reads are waited for, to tell what they met
  late_failure late_{};
  bool settled_{false};
};

/// The reader of the stream is gone: cancels it, and waits until no read is under way. On its
/// strand it does not wait; in the child of a fork it leaves the stream as it is.
void close_stream(std::shared_ptr<get_stream> stream) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/get_stream.ipp>
#include <dataflux/download/impl/get_stream_batches.ipp>
#include <dataflux/download/impl/get_stream_composites.ipp>
#include <dataflux/download/impl/get_stream_end.ipp>
#include <dataflux/download/impl/get_stream_reads.ipp>
#endif
