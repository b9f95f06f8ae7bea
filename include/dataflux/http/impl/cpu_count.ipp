#pragma once

#include <dataflux/http/detail/cpu_count.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

inline constexpr double no_quota = std::numeric_limits<double>::infinity();

/// The quota of one group in CPUs. Version 2 says "150000 100000" or "max 100000" in one file.
inline double quota_of_group(const std::string& folder, bool version_2) {
  double quota = 0;
  double period = 0;
  if (version_2) {
    std::ifstream file(folder + "/cpu.max");
    if (!(file >> quota >> period)) return no_quota;
  } else {
    std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
    std::ifstream period_file(folder + "/cpu.cfs_period_us");
    if (!(quota_file >> quota) || !(period_file >> period)) return no_quota;
  }
  return quota > 0 && period > 0 ? quota / period : no_quota;
}

/// The least of a group's own and its parents'. A container may see the host's path, but has its
/// own group mounted as the root: a group without a file has no quota.
inline double quota_of_path(const std::string& mount, std::string path, bool version_2) {
  double least = quota_of_group(mount, version_2);
  while (path.size() > 1) {
    least = std::min(least, quota_of_group(mount + path, version_2));
    path.erase(path.rfind('/'));
  }
  return least;
}

DATAFLUX_INLINE std::size_t cpu_count(std::size_t bound_to, const std::string& root) {
  double least = no_quota;
  std::ifstream groups(root + "/proc/self/cgroup");
  // "0::/path" for version 2, "4:cpu,cpuacct:/path" for version 1 (man 7 cgroups).
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const std::string path = line.substr(second + 1);
    if (!path.starts_with('/')) continue;
    if (controllers == ",,") {
      least = std::min(least, quota_of_path(root + "/sys/fs/cgroup", path, true));
    } else if (controllers.find(",cpu,") != std::string::npos) {
      least = std::min(least, quota_of_path(root + "/sys/fs/cgroup/cpu", path, false));
    }
  }
  bound_to = std::max<std::size_t>(1, bound_to);
  if (least >= static_cast<double>(bound_to)) return bound_to;
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(least)));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
