#pragma once

#include <dataflux/shard/detail/shard_indexer.hpp>
#include <dataflux/shard/shard_index.hpp>

#include <string>
#include <utility>
#include <vector>

/// The rules of indexing as an index keeps them: names and values.
namespace dataflux::inline DATAFLUX_ABI::detail::shard {

std::vector<std::pair<std::string, std::string>> options_of(const indexing_rules& rules);
/// The reverse. What is not known is left out, and what is missing is the default.
indexing_rules rules_of(const std::vector<std::pair<std::string, std::string>>& options);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/index_rules.ipp>
#endif
