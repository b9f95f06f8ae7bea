#pragma once

#include <dataflux/unique_function.hpp>

#include <cstdint>
#include <string>

#include "folder.hpp"
#include "outcome.hpp"

namespace cli {

/// Calls `file(folder, name, path, size)` for every regular file below `root`, and for links to
/// some, but what copies that broke off have left, until it gives false; `path` is relative to the
/// root, with '/' between, and they come in the order of their bytes, as names of objects in a
/// listing. Memory: the names of the folders on the way down. What is neither (links to folders,
/// broken links, devices, sockets) and what cannot be read is reported. Blocks.
void walk(const folder_ptr& root, outcome& report,
          dataflux::unique_function<bool(const folder_ptr&, const std::string& name,
                                         const std::string& path, std::uint64_t size)>
              file);

}  // namespace cli
