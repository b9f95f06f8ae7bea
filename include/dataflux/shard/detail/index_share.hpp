#pragma once

#include <dataflux/list/detail/share_board.hpp>
#include <dataflux/shard/detail/index_call.hpp>
#include <dataflux/shard/detail/shard_plan.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// What is wrong with the board of a request before any call. Errors: invalid_argument.
result<void> check_board(const index_shards_request& request);

/// One process's part of an index that many make together.
///
/// The listing says how the shards are divided, so that the first task, which is everything, is
/// done at once, and its children are the runs of shards. Each of them is an index_call, whose
/// index becomes the task's part. At the end another one joins the parts.
class index_share final : public share_board<index_share, index_shards_summary, share_task> {
 public:
  index_share(const transfer_context& context, index_shards_request request, completion done);

  void begin();
  // For the board:
  void agreed(timestamp begun) { description_.taken = begun; }
  result<std::string> difference(bytes_view there) const;
  void take(const task_ptr& t);
  void saw(std::string_view id, const share_mark& mark);
  void own(const task_ptr& /*t*/) {}
  void whole();

 private:
  result<void> divide();
  std::size_t end_of(std::size_t run) const noexcept;
  object_columns rows_of(std::size_t run) const;
  /// This request for some of its rows, without where they go.
  index_shards_request for_rows(object_columns rows) const;
  void index(const task_ptr& t, std::size_t run);

  const transfer_context context_;
  const index_shards_request request_;
  const indexing_rules rules_;
  shard_index_description description_;
  shard_index_description agreed_{};
  std::vector<planned_shard> shards_{};
  std::vector<std::size_t> firsts_{};  ///< shard of each run
  std::vector<index_part> parts_{};    ///< of each run, once it is done
  std::size_t shards_done_{0};
  index_shards_summary summary_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/index_share.ipp>
#endif
