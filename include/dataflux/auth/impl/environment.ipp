#pragma once

#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/auth/detail/program.hpp>
#include <dataflux/exec/detail/descriptor.hpp>
#include <dataflux/exec/detail/replacing_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <system_error>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline constexpr std::size_t longest_credentials_file = std::size_t{1} << 20;

inline error file_error(const std::string& path, int reason) {
  errc code = errc::unavailable;
  if (reason == ENOENT || reason == ENOTDIR) code = errc::not_found;
  if (reason == EACCES || reason == EPERM) code = errc::permission_denied;
  return {code, path + ": " + std::generic_category().message(reason)};
}

/// /dev/null, by which a variable says "no file" where one is meant: it reads as an empty one.
inline bool is_null_device(const struct stat& facts) noexcept {
  struct stat null {};
  return S_ISCHR(facts.st_mode) && ::stat("/dev/null", &null) == 0 && facts.st_rdev == null.st_rdev;
}

class process_environment_reader final : public environment {
 public:
  std::optional<std::string> variable(const char* name) const override {
    const char* const value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return std::string{value};
  }

  result<std::string> read_file(const std::string& path) const override {
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat facts {};
    if (file.get() < 0 || ::fstat(file.get(), &facts) != 0) return file_error(path, errno);
    // Opened without waiting, so that a named pipe is found here instead of hanging the caller.
    if (is_null_device(facts)) return std::string{};
    if (!S_ISREG(facts.st_mode)) return error{errc::invalid_argument, path + ": it is no file"};
    std::string text;
    for (;;) {
      char piece[4096];
      const ssize_t got = ::read(file.get(), piece, sizeof piece);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return file_error(path, errno);
      if (got == 0) return text;
      text.append(piece, static_cast<std::size_t>(got));
      if (text.size() > longest_credentials_file) {
        return error{errc::invalid_argument, path + ": it is longer than 1 MiB"};
      }
    }
  }

  result<void> replace_file(const std::string& path, std::string_view text) const override {
    replacing_file file(path, 0600);
    if (auto good = file.create(); !good) return good;
    if (auto good = file.write(text); !good) return good;
    return file.put_in_place();
  }

  result<std::string> run(const program_call& program) const override {
    return run_program(program);
  }
};

DATAFLUX_INLINE const environment& process_environment() noexcept {
  static const process_environment_reader reader;
  return reader;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
