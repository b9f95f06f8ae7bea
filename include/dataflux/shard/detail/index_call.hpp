#pragma once

#include <dataflux/detail/buffer.hpp>
#include <dataflux/exec/detail/replacing_file.hpp>
#include <dataflux/shard/detail/index_journal.hpp>
#include <dataflux/shard/detail/known_shards.hpp>
#include <dataflux/shard/detail/shard_index_encoder.hpp>
#include <dataflux/shard/detail/shard_indexer.hpp>
#include <dataflux/shard/detail/shard_layout.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/wrong_shard.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/transfer/ranged_read_summary.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// An object that has the layouts of some of the shards, which follow one another: what a writer
/// has put beside a shard, or what another process has indexed.
struct index_part {
  std::string bucket{};
  std::string object{};
  std::int64_t generation{0};
  std::uint64_t size{0};
  std::optional<std::uint32_t> crc32c{};
  std::size_t first{0};  ///< of the shards
  std::size_t count{0};
};

/// What a call does, for all functions that make or compare an index.
struct index_work {
  index_shards_request request{};
  indexing_rules rules{};
  shard_index_description description{};
  /// The shards are compared with it, and those that are wrong are collected.
  std::optional<shard_index> expected{};
  std::vector<index_part> parts{};  ///< in order
  /// Where the index goes: to the request's path, or to memory, or nowhere.
  bool to_file{false};
  std::shared_ptr<std::string> memory{};
  /// What was done is kept beside the path for a later call.
  bool journal{false};
  /// Shards that are read at the same time by all calls that share the memory. 0 = by this one.
  std::uint64_t readers{0};
  /// Of layouts that wait for the shards before them.
  std::uint64_t layout_memory{std::uint64_t{256} << 20U};

  /// For index_shards().
  static index_work of(index_shards_request request);
};

struct index_outcome {
  index_shards_summary made{};
  verify_shards_summary found{};
};

/// One call that makes an index of shards, or compares shards with one.
///
/// prepare() finds out which shards are known. Each of the others that is under way has one read at
/// a time, of as many bytes as its share of the memory is; the slices of that read are in flight
/// together. What is complete waits in `ready_` for those before it, and is written by steps on a
/// thread for files, one step at a time. On the strand, but for prepare() and write_step().
class index_call final : public call_coordinator<index_call, index_outcome> {
 public:
  index_call(const transfer_context& context, index_work work, completion done);

  void begin();
  /// No step writes: what there is of the file goes before the caller hears of the failure, and
  /// what waits for its turn comes into the journal.
  void idle() {
    if (failed()) {
      if (journal_ && !ready_.empty()) return keep_ready();
      file_.reset();
      journal_.reset();
    }
    call_coordinator::idle();
  }

 private:
  static constexpr std::size_t no_part = SIZE_MAX;
  struct planned {
    std::size_t row{0};
    std::size_t part{no_part};
    std::optional<known_shards::place> known{};
  };
  /// A shard that is being read.
  struct reading {
    reading(std::size_t shard, const object_row& listed, const indexing_rules& rules)
        : number(shard), row(listed), indexer(rules, listed.size) {}
    std::size_t number;
    object_row row;
    shard_indexer indexer;
    buffer memory{};
  };
  using reading_ptr = std::shared_ptr<reading>;
  /// A shard that waits for its turn to be written.
  struct finished {
    std::size_t number{0};
    shard_layout layout{};
    std::optional<shard_index> part{};  ///< that has the layout, as its shard `place`
    std::uint64_t place{0};
    bool in_journal{false};
    std::optional<wrong_shard> wrong{};
    std::uint64_t memory{0};
  };

  void begin_file();
  object_columns rows_told() const;
  result<void> prepare();
  void plan();
  result<void> find_known();
  object_row row_of(std::size_t number) const { return rows_[plan_[number].row]; }

  void go_on() {
    start_more();
    write();
  }
  void start_more();
  bool may_begin() const noexcept;
  void begin_shard(std::size_t number);
  void read_part(std::size_t number);
  void took_part(std::size_t number, std::shared_ptr<buffer> memory);
  void read(reading_ptr of);
  void arrived(reading_ptr of, byte_extent asked, const result<ranged_read_summary>& outcome);
  void through(reading& of);
  error of_shard(const object_row& row, const error& why) const;
  void not_there(const reading_ptr& of, const error& why);
  void found_wrong(const reading& of, shard_fault fault, const error& why);

  void write();
  result<void> write_step(std::vector<finished>& batch, bool last);
  void compare(finished& shard);
  void keep_ready();
  template <class Shards>
  void journal(const Shards& shards);
  result<void> put_out(std::string_view bytes);
  result<void> end_file();
  void sum_up(const object_row& row, const finished& shard);
  void wrote(const std::vector<finished>& batch, std::optional<error> why);

  const transfer_context context_;
  const index_work work_;
  const buffer_pool pool_{};
  const std::uint64_t at_once_;
  object_columns told_{};
  object_columns rows_{};
  std::vector<index_part> parts_;  ///< first those of the work, then those beside shards
  std::vector<planned> plan_{};    ///< a shard each
  known_shards known_{};
  std::size_t in_journal_{0};         ///< of the parts in `known_`, the first ones
  std::deque<std::size_t> missed_{};  ///< shards that a part has not, though it should
  std::size_t next_{0};               ///< shard to begin
  std::size_t next_write_{0};         ///< shard to write
  std::size_t reading_{0};
  std::map<std::size_t, finished> ready_{};  ///< by shard
  std::uint64_t ready_bytes_{0};
  std::uint64_t bytes_read_{0};
  bool writing_{false};
  // While a step writes they are its own.
  shard_index_description description_;
  index_outcome outcome_{};
  std::optional<shard_index_encoder> encoder_{};
  std::optional<replacing_file> file_{};
  std::optional<index_journal> journal_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/index_call.ipp>
#include <dataflux/shard/impl/index_write.ipp>
#endif
