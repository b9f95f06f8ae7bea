#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "folder.hpp"
#include "job.hpp"

namespace cli {

/// One object to fetch: as a listing or a stat gave it, so that no byte of another generation
/// comes.
struct wanted_object {
  std::string bucket{};
  std::string name{};
  std::uint64_t size{0};
  std::int64_t generation{0};
  std::optional<std::uint32_t> crc32c{};
};

/// Fetches `object` into the file `name` of `where`, and reports how it ended. Small objects are
/// one request; large ones ranges in parallel, written where they belong, the checksum of all
/// compared with the object's before the file gets its name. Returns when it is under way; blocks
/// while the pipeline is full.
void download(job& to, const wanted_object& object, folder_ptr where, std::string name);

}  // namespace cli
