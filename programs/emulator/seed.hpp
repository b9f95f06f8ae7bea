#pragma once

#include <emulator/bucket_store.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace emulator {

/// Makes every regular file below `directory` an object of `bucket` (created when missing) named by
/// its relative path. Symbolic links, unreadable folders and names that the service refuses are
/// skipped. Nothing is read now: bytes come from the file when asked for, digests on first need.
/// Gives the number of objects. Throws std::runtime_error when `directory` is no folder.
///
/// A file that changes afterwards shows as a 500, a wrong checksum or a broken reply: seed folders
/// at rest.
std::size_t seed_folder(bucket_store& store, std::string_view bucket, const std::string& directory);

}  // namespace emulator
