#pragma once

#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/detail/set_scan.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What a checkpoint_set_reader knows.
struct open_set {
  transfer_context context;
  std::string bucket{};
  checkpoint_set_info info{};
  /// With the slash.
  std::string members_folder{};
  set_object last{};
  std::optional<std::uint32_t> last_crc32c{};
  std::vector<member_record> members{};
  std::vector<damaged_checkpoint_set> passed_over{};
};

/// What a list shows of it.
inline checkpoint_set_info info_of(const scanned_set& set) {
  checkpoint_set_info info{.prefix = set.folder,
                           .last = set.last.name.substr(set.folder.size()),
                           .committed = set.committed,
                           .members = set.members.size()};
  for (const member_record& member : set.members) info.bytes += member.size;
  return info;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
