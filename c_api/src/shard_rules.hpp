#pragma once

#include <dataflux.h>

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/shard/grouping_rules.hpp>
#include <dataflux/shard/shard_rules.hpp>

#include <cstdint>

/// How shards are read, and what was met: the same members of several structs.
namespace dataflux_c {

template <class Options>
dataflux::shard_rules reading_rules_of(const Options& o) {
  dataflux::shard_rules rules;
  if (o.read_concatenated != 0) rules.concatenated = dataflux::concatenated_rule::read;
  if (o.ignore_trailing != 0) rules.trailing = dataflux::trailing_rule::ignore;
  if (o.end_at_damage != 0) rules.damaged = dataflux::damaged_rule::end;
  return rules;
}

template <class Options>
dataflux::grouping_rules grouping_rules_of(const Options& o) {
  dataflux::grouping_rules rules;
  rules.keep_case = o.keep_case != 0;
  rules.strip_dot_slash = o.strip_dot_slash != 0;
  if (o.keep_first != 0) rules.repeated = dataflux::repeated_rule::keep_first;
  return rules;
}

/// What is said of shards, in one place for C's struct and for JSON.
template <class Put>
void put_counts(const dataflux::shard_counts& counts, const dataflux::grouping_counts& groups,
                Put put) {
  put("concatenated", &dataflux_indexed_shard::concatenated, counts.concatenated);
  put("trailing", &dataflux_indexed_shard::trailing, counts.trailing);
  put("damaged", &dataflux_indexed_shard::damaged, counts.damaged);
  put("missing_ends", &dataflux_indexed_shard::missing_ends, counts.missing_ends);
  put("bytes_behind", &dataflux_indexed_shard::bytes_behind, counts.bytes_behind);
  put("hard_links", &dataflux_indexed_shard::hard_links, counts.hard_links);
  put("symlinks", &dataflux_indexed_shard::symlinks, counts.symlinks);
  put("directories", &dataflux_indexed_shard::directories, counts.directories);
  put("devices", &dataflux_indexed_shard::devices, counts.devices);
  put("other", &dataflux_indexed_shard::other, counts.other);
  put("hidden", &dataflux_indexed_shard::hidden, groups.hidden);
  put("no_field", &dataflux_indexed_shard::no_field, groups.no_field);
  put("repeated", &dataflux_indexed_shard::repeated, groups.repeated);
}

inline void write_counts(dataflux::detail::codec::json_writer& w,
                         const dataflux::shard_counts& counts,
                         const dataflux::grouping_counts& groups) {
  w.begin_object();
  put_counts(counts, groups,
             [&](const char* name, auto, std::uint64_t count) { w.key(name).natural(count); });
  w.end_object();
}

}  // namespace dataflux_c
