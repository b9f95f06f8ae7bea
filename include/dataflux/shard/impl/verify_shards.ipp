#pragma once

#include <dataflux/shard/detail/index_call.hpp>
#include <dataflux/shard/detail/index_rules.hpp>
#include <dataflux/shard/verify_shards.hpp>

#include <memory>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::shard {

inline error first_of(const verify_shards_summary& found) {
  error why = found.wrong.front().why;
  const std::string count = std::to_string(found.wrong_count) + " of " +
                            std::to_string(found.shards) +
                            " shards are not what the index says; the first one: ";
  return why.with_message(count + why.message());
}

/// The rules are those of the index, but that all bytes are read.
inline index_work verifying(const shard_index& index, const verify_shards_options& options) {
  index_work work;
  work.rules = rules_of(index.description().options);
  work.rules.skip_from = UINT64_MAX;
  work.description = index.description();
  for (auto& [name, value] : work.description.options) {
    if (name == "skip_from") value = std::to_string(UINT64_MAX);
  }
  work.request.bucket = index.description().bucket;
  work.request.path = options.path;
  work.to_file = !options.path.empty();
  work.request.parallelism = options.parallelism;
  work.request.progress = options.progress;
  work.request.limits = options.limits;
  work.expected = index;
  return work;
}

}  // namespace detail::shard

DATAFLUX_INLINE void start_verify_shards(const transfer_context& context, const shard_index& index,
                                         const verify_shards_options& options,
                                         object_store::completion<verify_shards_summary> done) {
  const bool tolerant = options.return_wrong;
  auto finish = [done = std::move(done),
                 tolerant](result<detail::shard::index_outcome> outcome) mutable {
    if (!outcome) return done(std::move(outcome).error());
    if (outcome->found.wrong_count > 0 && !tolerant) {
      return done(detail::shard::first_of(outcome->found));
    }
    done(std::move(outcome->found));
  };
  const std::string bucket = index.description().bucket;
  std::make_shared<detail::shard::index_call>(context, detail::shard::verifying(index, options),
                                              std::move(finish))
      ->start(bucket);
}

}  // namespace dataflux::inline DATAFLUX_ABI
