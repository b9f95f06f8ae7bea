#pragma once

#include <dataflux/detail/buffer.hpp>
#include <dataflux/exec/detail/replacing_file.hpp>
#include <dataflux/shard/detail/shard_index_encoder.hpp>
#include <dataflux/shard/detail/shard_indexer.hpp>
#include <dataflux/shard/detail/shard_layout.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/transfer/ranged_read_summary.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// One call of index_shards(). Each shard under way has one read at a time, of as many bytes as its
/// share of the memory is; the slices of that read are in flight together. Layouts that are
/// complete wait in `ready_` for those before them, and are written by steps on a thread for files,
/// one step at a time. On the strand, but for write_step().
class index_call final : public call_coordinator<index_call, index_shards_summary> {
 public:
  index_call(const transfer_context& context, index_shards_request request, completion done);

  void begin();
  /// No step writes: what there is of the file goes before the caller hears of the failure.
  void idle() {
    if (failed()) file_.reset();
    call_coordinator::idle();
  }

 private:
  /// A shard that is being read.
  struct work {
    work(std::size_t shard, const object_row& listed, const indexing_rules& rules)
        : number(shard), row(listed), indexer(rules, listed.size) {}
    std::size_t number;
    object_row row;
    shard_indexer indexer;
    buffer memory{};
  };
  using work_ptr = std::shared_ptr<work>;

  void start_more();
  void read(work_ptr of);
  void arrived(work_ptr of, byte_extent asked, const result<ranged_read_summary>& outcome);
  void through(work& of);
  error of_shard(const object_row& row, const error& why) const;
  void write();
  result<void> write_step(std::size_t from, const std::vector<shard_layout>& batch, bool last);
  void wrote(const std::vector<shard_layout>& batch, std::optional<error> why);
  void sum_up(const object_row& row, const shard_layout& layout);

  const transfer_context context_;
  const index_shards_request request_;
  const buffer_pool pool_{};
  const std::size_t at_once_;
  std::size_t next_{0};        ///< shard to begin
  std::size_t next_write_{0};  ///< shard to write
  std::size_t reading_{0};
  std::map<std::size_t, shard_layout> ready_{};  ///< by shard
  std::uint64_t ready_bytes_{0};
  bool writing_{false};
  index_shards_summary summary_{};
  // While a step writes they are its own.
  shard_index_encoder encoder_;
  std::optional<replacing_file> file_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/index_call.ipp>
#endif
