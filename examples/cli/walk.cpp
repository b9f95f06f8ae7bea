#include "walk.hpp"

#include <dataflux/checkpoint/upload_file_request.hpp>
#include <dataflux/exec/hidden_file.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

namespace {

using visitor = dataflux::unique_function<bool(const folder_ptr&, const std::string& name,
                                               const std::string& path, std::uint64_t size)>;

struct close_directory {
  void operator()(DIR* open) const noexcept { ::closedir(open); }
};
using directory = std::unique_ptr<DIR, close_directory>;

/// A second descriptor, since closedir() closes the one that it was given.
directory read_entries(const folder& from) {
  const int again = ::openat(from.descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return directory(again < 0 ? nullptr : ::fdopendir(again));
}

/// What copies that broke off have left: a journal of an upload, a part of a download, a file that
/// has not got its name.
bool is_leftover(std::string_view name) {
  if (name.starts_with(dataflux::upload_journal_prefix)) return true;
  if (dataflux::is_hidden_file_name(name)) return true;
  constexpr std::string_view part{".dataflux-part-"};
  if (!name.starts_with(part) || name == part) return false;
  return name.find_first_not_of("0123456789abcdef", part.size()) == std::string_view::npos;
}

class walker {
 public:
  walker(outcome& report, visitor& file) : report_(report), file_(file) {}

  bool visit(const folder_ptr& in, const std::string& prefix) {
    std::vector<std::string> names;  // of folders with '/' behind, as in those of objects
    {
      const directory entries = read_entries(*in);
      if (entries == nullptr) return fail(in->shown("."), errno);
      errno = 0;
      while (const ::dirent* entry = ::readdir(entries.get())) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (is_leftover(name)) continue;
        names.push_back(is_folder(*in, *entry) ? name + '/' : name);
        errno = 0;
      }
      if (errno != 0) fail(in->shown("."), errno);
    }
    std::sort(names.begin(), names.end());
    for (const auto& name : names) {
      if (!name.ends_with('/')) {
        if (!visit_entry(in, name, prefix)) return false;
        continue;
      }
      auto inner = in->enter(std::string_view(name).substr(0, name.size() - 1), false);
      if (!inner) {
        report_.failed(inner.error());
      } else if (!visit(*inner, prefix + name)) {
        return false;
      }
    }
    return true;
  }

 private:
  /// Not all file systems say so in readdir().
  static bool is_folder(const folder& in, const ::dirent& entry) noexcept {
    if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
    struct stat facts {};
    return ::fstatat(in.descriptor(), entry.d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(facts.st_mode);
  }

  bool visit_entry(const folder_ptr& in, const std::string& name, const std::string& prefix) {
    struct stat facts {};
    if (::fstatat(in->descriptor(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
      return fail(in->shown(name), errno);
    }
    if (S_ISLNK(facts.st_mode)) {
      if (::fstatat(in->descriptor(), name.c_str(), &facts, 0) != 0) {
        return fail(in->shown(name), errno);
      }
      if (S_ISDIR(facts.st_mode)) {
        report_.failed(file_error(in->shown(name), "is a link to a folder, which is not followed"));
        return true;
      }
    }
    if (!S_ISREG(facts.st_mode)) {
      report_.failed(file_error(in->shown(name), "is no regular file"));
      return true;
    }
    return file_(in, name, prefix + name, static_cast<std::uint64_t>(facts.st_size));
  }

  bool fail(const std::string& path, int number) {
    report_.failed(file_error(path, number));
    return true;
  }

  outcome& report_;
  visitor& file_;
};

}  // namespace

void walk(const folder_ptr& root, outcome& report, visitor file) {
  walker(report, file).visit(root, "");
}

}  // namespace cli
