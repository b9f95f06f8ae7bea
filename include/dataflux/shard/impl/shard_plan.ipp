#pragma once

#include <dataflux/detail/text_hash.hpp>
#include <dataflux/shard/detail/shard_plan.hpp>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

inline constexpr std::uint64_t least_task = std::uint64_t{2} << 30U;

/// The name of the shard beside which a name of an index lies; empty for other names.
inline std::string_view shard_of_sidecar(std::string_view name) noexcept {
  if (!name.ends_with(sidecar_suffix)) return {};
  return name.substr(0, name.size() - sidecar_suffix.size());
}

DATAFLUX_INLINE std::vector<planned_shard> plan_shards(const object_columns& rows) {
  // By the shard's name: the row of its index.
  std::unordered_map<std::string_view, std::size_t> sidecars;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string_view of = shard_of_sidecar(rows.name(i));
    if (!of.empty()) sidecars.emplace(of, i);
  }
  std::vector<planned_shard> plan;
  plan.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!shard_of_sidecar(rows.name(i)).empty()) continue;
    const auto at = sidecars.find(rows.name(i));
    plan.push_back({i, at == sidecars.end() ? planned_shard::none : at->second});
  }
  return plan;
}

DATAFLUX_INLINE std::uint64_t orphans_of(const object_columns& rows,
                                         const std::vector<planned_shard>& plan) {
  std::unordered_set<std::size_t> beside;
  for (const planned_shard& each : plan) {
    if (each.sidecar != planned_shard::none) beside.insert(each.sidecar);
  }
  return rows.size() - plan.size() - beside.size();
}

DATAFLUX_INLINE std::vector<std::size_t> cut_by_bytes(const object_columns& rows,
                                                      const std::vector<planned_shard>& plan,
                                                      std::size_t most) {
  std::uint64_t total = 0;
  for (const planned_shard& each : plan) total += rows[each.row].size;
  const std::uint64_t task = std::max(least_task, total / most + 1);
  const std::size_t most_shards = plan.size() / most + 65536;
  std::vector<std::size_t> firsts;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const std::uint64_t size = rows[plan[i].row].size;
    const bool full = firsts.empty() || bytes + size > task || i - firsts.back() >= most_shards;
    if (full) {
      firsts.push_back(i);
      bytes = 0;
    }
    bytes += size;
  }
  return firsts;
}

DATAFLUX_INLINE std::uint64_t digest_of(const object_columns& rows,
                                        const std::vector<planned_shard>& plan) {
  std::uint64_t digest = 0;
  std::string text;
  for (const planned_shard& each : plan) {
    const object_row row = rows[each.row];
    text.assign(row.name).append(1, '\0').append(std::to_string(row.size));
    text.append(1, '/').append(std::to_string(row.generation));
    digest = mixed_hash(text, digest);
  }
  return digest;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
