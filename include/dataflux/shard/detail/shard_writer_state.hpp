#pragma once

#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/exec/detail/bells.hpp>
#include <dataflux/exec/detail/turn.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/shard/detail/shard_calls.hpp>
#include <dataflux/shard/detail/shard_packer.hpp>
#include <dataflux/shard/detail/shard_pattern.hpp>
#include <dataflux/shard/shard_writer.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Whom a call of the writer that is under way tells of its end.
struct shard_news {
  std::mutex mutex{};
  bells waits{};
  void ring() {
    const std::scoped_lock lock(mutex);
    waits.ring();
  }
};

/// A shard_writer: its thread's side. A sample goes from the packer into the upload of the open
/// shard, piece by piece. At most one shard before that one is being ended meanwhile, and none is
/// opened before it has an upload. What is not ready is waited for by `wait`, which each step sets.
struct shard_writer_state {
  shard_writer_state(const transfer_context& with, shard_writer_request what, shard_pattern names);

  /// Goes on behind shards that are there.
  void resume(const resumed_shards& found);

  /// Whether the caller, who has tried to take the turn, may use it.
  result<void> usable(const turn& mine) const;
  // All of these within a turn.
  result<bool> try_write(std::string_view key, std::span<const sample_field> fields);
  /// There are no more samples: writes the end of the open shard.
  result<bool> try_end();
  void notify(completion_queue& queue, std::uint64_t tag);
  /// How the last shard ends: whole, or discarded after a failure.
  result<shard_ending> last_ending();
  /// How it is given up.
  shard_ending giving_up();
  void start_end(shard_ending ending, const call_limits& limits,
                 object_store::completion<shard_writer_summary> done);
  /// No more can be done than to give it up.
  error fail(error why);

  enum class wait : std::uint8_t { nothing, opening, room, ending };

  const transfer_context context;
  const shard_writer_request request;
  const shard_pattern pattern;
  const process_stamp born{};
  std::atomic<bool> busy{false};
  resumed_shards resumed{};
  const std::shared_ptr<shard_news> news{std::make_shared<shard_news>()};
  const std::shared_ptr<shard_chain> chain{std::make_shared<shard_chain>()};
  std::optional<completion_queue> bell{};  ///< of a write that waits
  std::uint64_t samples{0};
  bool finished{false};

 private:
  result<bool> go_on();
  result<bool> open_next();
  result<bool> is_ending();
  result<bool> write_end();
  result<bool> write_pieces();
  result<shard_ending> packed_ending(shard_end why);
  std::optional<checkpoint_writer> moved_out();
  bool is_same(std::string_view key, std::span<const sample_field> fields) const noexcept;

  const std::string_view scheme_;  ///< of the store, which may end before
  shard_packer packer_;
  std::uint64_t number_{0};  ///< of the open shard, or of the next one
  std::string name_{};
  std::optional<checkpoint_writer> open_{};
  std::int64_t sidecar_{0};
  std::optional<error> failure_{};
  wait waits_{wait::nothing};
  // Of the sample that is being written:
  bool taken_{false};
  bool added_{false};
  bool no_more_{false};       ///< samples: the end of the last shard is written
  bool ending_begun_{false};  ///< `pieces_` are the end of the shard
  std::string key_{};
  std::vector<sample_field> given_{};     ///< its fields, whose memory is the caller's
  std::span<const bytes_view> pieces_{};  ///< that are left
  std::size_t in_piece_{0};
  // Their ends ring `news`, so they are the first to go.
  operation<opened_shard> opening_{};
  operation<shard_writer_summary> ending_{};
};

/// The blocking write for who must see to signals, as a program under an interpreter: a signal
/// whose handler runs on this thread ends it. Then the same sample is to be written again.
struct interruptible_writes {
  enum class end : std::uint8_t { all, interrupted };
  static result<end> write(shard_writer& writer, std::string_view key,
                           std::span<const sample_field> fields, bool until_signal);
  static result<end> write_end(shard_writer& writer, bool until_signal);
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/shard_writer_state.ipp>
#endif
