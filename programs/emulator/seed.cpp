#include <emulator/object_rules.hpp>
#include <emulator/seed.hpp>
#include <emulator/service_error.hpp>

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace emulator {

std::size_t seed_folder(bucket_store& store, std::string_view bucket,
                        const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::is_directory(directory, failed)) {
    throw std::runtime_error("Cannot seed from " + directory + ": not a folder");
  }
  store.create_bucket(bucket);
  std::size_t count = 0;
  const fs::path root{directory};
  fs::recursive_directory_iterator at{root, fs::directory_options::skip_permission_denied, failed};
  for (; !failed && at != fs::recursive_directory_iterator{}; at.increment(failed)) {
    struct stat facts {};
    if (::lstat(at->path().c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    bucket_store::new_object object;
    object.name = at->path().lexically_relative(root).string();
    object.data = content::of_file(at->path().string(), static_cast<std::uint64_t>(facts.st_size));
    const auto since = std::chrono::seconds{facts.st_mtim.tv_sec};
    try {
      check_object_name(object.name);
    } catch (const service_error&) {
      continue;
    }
    store.seed(bucket, std::move(object), stored_object::time_point{since});
    ++count;
  }
  return count;
}

}  // namespace emulator
