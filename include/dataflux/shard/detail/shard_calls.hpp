#pragma once

#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/detail/buffer.hpp>
#include <dataflux/detail/collecting_sink.hpp>
#include <dataflux/shard/detail/shard_pattern.hpp>
#include <dataflux/shard/shard_writer.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The calls of a shard_writer that take several requests: to find out what is there, to open a
/// shard, to end one.
namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// A shard that may be written. On the strand of its context.
struct opened_shard {
  checkpoint_writer writer;
  /// Generation of an entry without a shard, which is going to be replaced; 0 = none.
  std::int64_t sidecar{0};
};

/// Sees that the shard is not there, and opens its upload. Where nothing may be looked at, the
/// conditions of the writes decide.
class shard_open_call final : public call_coordinator<shard_open_call, opened_shard> {
 public:
  shard_open_call(const transfer_context& context, upload_request request,
                  const call_limits& limits, completion done);
  void begin();
  void stop_asked();
  void idle();

 private:
  void found(const result<object_metadata>& shard);
  void found_sidecar(const result<object_metadata>& sidecar);

  const transfer_context context_;
  upload_request request_;
  std::int64_t sidecar_{0};
  bool opening_{false};
};

class shard_end_call;

/// What the ends of a writer's shards share, on the strand: they come one after the other, and none
/// after one that has failed.
struct shard_chain {
  /// The next one, when none is under way.
  void pass_on() {
    if (busy || waiting.empty()) return;
    auto next = std::exchange(waiting.front(), {});
    waiting.pop_front();
    next();
  }

  bool busy{false};
  std::weak_ptr<shard_end_call> current{};  ///< whose turn it was last
  std::deque<unique_function<void()>> waiting{};
  std::optional<error> failure{};
  std::vector<written_shard> written{};
  // For any thread:
  std::atomic<std::uint64_t> whole_shards{0};
  std::atomic<std::uint64_t> whole_samples{0};
};

/// How a shard ends; without a writer it is a wait for those before.
struct shard_ending {
  std::optional<checkpoint_writer> writer{};
  std::string bucket{};
  written_shard shard{};
  std::string sidecar{};  ///< bytes of its entry
  std::int64_t sidecar_generation{0};
  std::optional<error> discarded{};  ///< why it is
  bool last{false};                  ///< the writer is finished: gives what it has written
  bool aborted{false};               ///< it is, since the caller wishes so
};

/// Writes the entry of a shard and commits it, once those before are there. An abort waits up to
/// 5 s for one that is under way, and then stops it.
class shard_end_call final : public call_coordinator<shard_end_call, shard_writer_summary> {
 public:
  shard_end_call(const transfer_context& context, std::shared_ptr<shard_chain> chain,
                 shard_ending ending, const call_limits& limits, completion done);
  void begin();
  /// It ends within 5 s, an abort at once.
  void stop_asked();
  /// After a failure what was sent is removed before the caller hears of it.
  void idle();

 private:
  void take_turn();
  void go_on();
  void abort();
  void stop_before();  ///< what has the turn
  template <class Step>
  void later(Step step);  ///< after 5 s, unless it has ended
  void write_sidecar();
  void commit();
  void committed(const committed_object& made);
  shard_writer_summary summary() const;
  void end(result<shard_writer_summary> outcome);

  const std::shared_ptr<shard_chain> chain_;
  shard_ending ending_;
  bool mine_{false};  ///< the chain's turn
  timer_id late_{timer_id::none};
  std::optional<error> unremoved_{};  ///< why what an abort discards is left
};

/// Counts the shards of one rank that are there, by their entries.
class shard_survey final : public call_coordinator<shard_survey, resumed_shards> {
 public:
  shard_survey(const transfer_context& context, shard_writer_request request, shard_pattern pattern,
               const call_limits& limits, completion done);
  void begin();

 private:
  struct entry_read;
  void take_rows(object_columns rows);
  void read_more();
  void read(std::size_t shard);
  void arrived(std::size_t shard, const entry_read& read, const result<read_summary>& outcome);
  error named(error why, std::string_view object) const;

  const transfer_context context_;
  const shard_writer_request request_;
  const shard_pattern pattern_;
  const buffer_pool pool_{};
  object_columns rows_{};
  std::vector<std::size_t> shards_{};    ///< rows, in the order of their numbers
  std::vector<std::size_t> sidecars_{};  ///< rows of their entries
  std::size_t next_{0};
  std::size_t reading_{0};
  resumed_shards found_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/shard_calls.ipp>
#endif
