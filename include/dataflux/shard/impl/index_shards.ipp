#pragma once

#include <dataflux/shard/detail/index_call.hpp>
#include <dataflux/shard/detail/index_share.hpp>
#include <dataflux/shard/index_shards.hpp>

#include <memory>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE void start_index_shards(const transfer_context& context,
                                        index_shards_request request,
                                        object_store::completion<index_shards_summary> done) {
  const std::string bucket = request.bucket;
  if (!request.board_bucket.empty() || !request.board_prefix.empty()) {
    if (auto good = detail::shard::check_board(request); !good) {
      error why = std::move(good).error();
      return done(std::move(why.with_scheme(context.store().traits().scheme).with_bucket(bucket)));
    }
    return std::make_shared<detail::shard::index_share>(context, std::move(request),
                                                        std::move(done))
        ->start(bucket);
  }
  auto finish = [done = std::move(done)](result<detail::shard::index_outcome> outcome) mutable {
    if (!outcome) return done(std::move(outcome).error());
    done(std::move(outcome->made));
  };
  std::make_shared<detail::shard::index_call>(
      context, detail::shard::index_work::of(std::move(request)), std::move(finish))
      ->start(bucket);
}

}  // namespace dataflux::inline DATAFLUX_ABI
