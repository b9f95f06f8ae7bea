#pragma once

#include <dataflux/result.hpp>
#include <dataflux/shard/rewrite_shards.hpp>

#include <string>
#include <vector>

#include "commands.hpp"
#include "rewrite_options.hpp"

namespace cli {

/// The shards that are named: a file, all .tar in a folder here or below a prefix, an object, "-".
/// Errors: those of listing; not_found where there are none.
dataflux::result<std::vector<dataflux::byte_place>> shards_named(
    const session& with, const std::vector<std::string>& names);

/// Their samples by number. One name that ends with .dfx is an index; shards of a bucket without
/// one are indexed in a file of $TMPDIR, which is gone at once.
/// Errors: invalid_argument for shards here and in a bucket at once, or in several buckets.
dataflux::result<dataflux::sample_table> table_of(const session& with,
                                                  const std::vector<std::string>& names,
                                                  const dataflux::rewrite_rules& rules);

/// The files that are named by `create`: folders, prefixes, lists, manifests.
dataflux::result<std::vector<dataflux::member_place>> members_named(const session& with,
                                                                    const rewrite_options& options);

/// The first URL that a list of `create` names; empty where there is none, or it is standard input.
std::string first_source_of(const std::string& list);

}  // namespace cli
