#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What commits of sets take and give.
namespace dataflux::inline DATAFLUX_ABI {

/// The last object of a set that has no file for it.
inline constexpr std::string_view set_marker_name = ".dataflux-complete";

/// The object that readers trust: once it is there, the set is.
struct last_object {
  /// Below the set's prefix, without a slash, and no member's: such as ".metadata" of PyTorch's
  /// distributed checkpoints. All who may commit the set use the same one.
  std::string name{set_marker_name};
  /// Caller's memory, unchanged until the completion. May be empty.
  bytes_view data{};
  /// Empty = application/octet-stream.
  std::string content_type{};
  /// Besides what the set says of itself there, under keys that begin with "dataflux-".
  std::vector<std::pair<std::string, std::string>> metadata{};
};

/// What checkpoint_set::begin() does about what an earlier save that was not committed has left.
enum class unfinished_members : std::uint8_t {
  refuse,   ///< it is an error, which says what there is
  replace,  ///< it is removed
};

/// What a member of a set has to be when the set is opened.
enum class member_match : std::uint8_t {
  /// Of the size and CRC32C that the manifest tells. So is a set that was copied to another bucket,
  /// restored from soft delete, or rewritten into another storage class.
  content,
  /// And of the generation that was committed: nobody has written to it since.
  generation,
};

struct committed_set {
  /// The last object; its `created` is the time of the commit, by the service's clock.
  object_metadata last{};
  /// The manifest's name in the bucket.
  std::string manifest{};
  std::uint64_t members{0};
  std::uint64_t bytes{0};  ///< of members
};

}  // namespace dataflux::inline DATAFLUX_ABI
