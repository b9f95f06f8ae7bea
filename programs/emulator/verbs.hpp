#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emulator {

/// One kind of request: how it is asked for, who may ask, and its name in faults and counters. All
/// that the emulator knows of a verb but what it does (service.cpp).
struct verb_row {
  std::string_view name;
  /// The JSON API's method, and its path behind "/storage/v1": segments, of which {bucket},
  /// {object}, {to_bucket}, {to_object}, {item} and {project} are taken into the call. No path:
  /// route.cpp tells by more than that.
  std::string_view method{};
  std::string_view path{};
  /// Needed on the bucket that is named first; of a copy that is the source's. Empty: none.
  std::string_view permission{};
  /// Needed on the destination of a copy.
  std::string_view on_target{};
  /// Counts as a write to the object's name, whose rate has a limit.
  bool writes{false};
  /// Somebody must pay for it where the requester pays.
  bool billed{true};
};

std::span<const verb_row> verb_rows() noexcept;

/// Null: there is none of that name.
const verb_row* find_verb(std::string_view name) noexcept;

/// What a path of the JSON API is about.
struct matched_path {
  /// Null: the path is one of the API's, but not with that method.
  const verb_row* row{nullptr};
  /// A name and its text, such as {"bucket", "data"}, decoded.
  std::vector<std::pair<std::string_view, std::string>> names{};
};

/// Nothing: no row has that path.
std::optional<matched_path> match_path(std::string_view method, std::string_view path);

}  // namespace emulator
