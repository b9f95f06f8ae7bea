#pragma once

#include <dataflux/list/detail/name_range.hpp>
#include <dataflux/result.hpp>

#include <span>
#include <string>

namespace dataflux::inline DATAFLUX_ABI {

class manifest;
struct manifest_description;

namespace detail {
class manifest_joiner;
}

/// Joins manifests of parts of one listing, and writes what that listing would have given as one
/// manifest. So the ranks of a job list a prefix that is too large for one of them: each one a
/// range of its names, by fast_list_request::start_offset and end_offset.
///
///     // Rank r, whose names are cuts[r] <= name < cuts[r + 1]; all ranks know the cuts:
///     save_manifest(path_of(r), describe_listing(mine, began).value(), listed.objects);
///     // One rank, when all are done:
///     join_manifests("train.manifest", parts);
///
/// `parts` may come in any order; some may be empty. Together they are all of `whole`, the offsets
/// of the listing that they are parts of; without them that is all names of the prefix. What is
/// written has the rows of all, in order, and a description whose offsets are `whole`, and whose
/// time is the earliest: later changes may be in some parts and not in others. It is given, too.
///
/// The file is there whole or not at all, as by save_manifest().
///
/// Errors: invalid_argument where parts do not belong together, with their names (manifest::open)
/// and what is different: bucket, prefix, match_glob, versions, options, or the columns that they
/// keep; where two overlap, or names between two, or at an end of `whole`, are in none. data_loss
/// for a damaged part, or one with rows outside of what it says it has. Those of save_manifest().
///
/// Lifetime: the parts are shared, until it returns. `path` may be that of a part.
///
/// Threads: any may call; it blocks for the disk.
///
/// Cost: the disk, and a checksum of all bytes: blocks are copied as they are, not decoded. Memory
/// for one block, however many there are; a mapped part is read page by page. Opening what was
/// joined costs a block more for each part than opening one listing.
result<manifest_description> join_manifests(const std::string& path,
                                            std::span<const manifest> parts,
                                            const name_range& whole = {});

}  // namespace dataflux::inline DATAFLUX_ABI
