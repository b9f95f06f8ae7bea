#pragma once

#include <dataflux/shard/detail/index_call.hpp>
#include <dataflux/shard/index_shards.hpp>

#include <memory>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE void start_index_shards(const transfer_context& context,
                                        index_shards_request request,
                                        object_store::completion<index_shards_summary> done) {
  const std::string bucket = request.bucket;
  std::make_shared<detail::shard::index_call>(context, std::move(request), std::move(done))
      ->start(bucket);
}

}  // namespace dataflux::inline DATAFLUX_ABI
