#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

enum class path_kind : std::uint8_t { missing, folder, file, other };
/// What a path leads to; links are followed.
path_kind kind_of(const std::string& path);

/// The path of `name` in the folder `path`.
std::string below(std::string path, std::string_view name);

enum class links : std::uint8_t { followed, refused };
/// Whether there is a file of that size and checksum; a refused link is none.
bool has_bytes(const std::string& path, links how, std::uint64_t size, std::uint32_t crc32c);

}  // namespace cli
