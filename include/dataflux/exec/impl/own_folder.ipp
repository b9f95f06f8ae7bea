#pragma once

#include <dataflux/detail/file_error.hpp>
#include <dataflux/exec/detail/descriptor.hpp>
#include <dataflux/exec/detail/own_folder.hpp>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// File systems of several machines. Their numbers are not all in linux/magic.h.
struct shared_file_system {
  std::uint32_t type;
  const char* name;
};
inline constexpr std::array<shared_file_system, 9> shared_file_systems{{
    {NFS_SUPER_MAGIC, "NFS"},
    {0xff534d42, "CIFS"},
    {0xfe534d42, "SMB"},
    {0x517b, "SMB"},
    {V9FS_MAGIC, "9P"},
    {0x00c36400, "Ceph"},
    {0x0bd00bd0, "Lustre"},
    {AFS_SUPER_MAGIC, "AFS"},
    {0x47504653, "GPFS"},
}};

DATAFLUX_INLINE result<void> check_local_type(std::uint32_t type, const std::string& path) {
  for (const shared_file_system& each : shared_file_systems) {
    if (type != each.type) continue;
    return error{errc::failed_precondition,
                 "'" + path + "' is on " + each.name +
                     ", which several machines share: a cache is of use on a disk of this machine"};
  }
  return {};
}

inline result<void> check_local(int folder, const std::string& path) {
  struct statfs facts {};
  if (::fstatfs(folder, &facts) != 0) return file_error(errno, "look at", path);
  return check_local_type(static_cast<std::uint32_t>(facts.f_type), path);
}

inline result<void> check_own(int folder, const std::string& path, const own_folder& wanted) {
  struct stat facts {};
  if (::fstat(folder, &facts) != 0) return file_error(errno, "look at", path);
  if (facts.st_uid == ::geteuid() && (facts.st_mode & wanted.refused) == 0) return {};
  return error{errc::failed_precondition, "'" + path + "' is another user's, or others may " +
                                              wanted.why + "; remove it, or name another folder"};
}

/// With the sticky bit nobody renames what is of others.
inline result<void> check_stays(int above, const std::string& path) {
  struct stat facts {};
  if (::fstat(above, &facts) != 0) return file_error(errno, "look at", path);
  const bool others_write = (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (!others_write || (facts.st_mode & S_ISVTX) != 0) return {};
  return error{errc::failed_precondition,
               "others may change what lies in '" + path +
                   "': take that permission away (chmod go-w), or name another folder"};
}

DATAFLUX_INLINE result<int> open_own_folder(const own_folder& wanted, bool make) {
  const std::string& path = wanted.path;
  if (path.empty()) return error{errc::invalid_argument, "folder: the name is empty"};
  if (auto good = check_path(path); !good) return std::move(good).error();
  constexpr unsigned everybody = 0777;
  if (make && ::mkdir(path.c_str(), everybody) != 0 && errno != EEXIST) {
    return file_error(errno, "make the folder", path);
  }
  const std::string own = path + "/" + wanted.name;
  constexpr int as_folder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  const descriptor above(::open(path.c_str(), as_folder));
  if (above.get() < 0) return file_error(errno, "open", path);
  if (auto local = check_local(above.get(), path); !local) return std::move(local).error();
  if (wanted.stays) {
    if (auto good = check_stays(above.get(), path); !good) return std::move(good).error();
  }
  constexpr unsigned ours_alone = 0700;
  if (make && ::mkdir(own.c_str(), ours_alone) != 0 && errno != EEXIST) {
    return file_error(errno, "make the folder", own);
  }
  descriptor folder(::open(own.c_str(), as_folder | O_NOFOLLOW));
  if (folder.get() < 0) return file_error(errno, "open", own);
  if (auto good = check_own(folder.get(), own, wanted); !good) return std::move(good).error();
  return folder.take();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
