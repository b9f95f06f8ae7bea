#include "sample_command.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "local_path.hpp"
#include "location.hpp"

namespace cli {

namespace sample_commands {

using dataflux::errc;
using dataflux::error;
using dataflux::result;
using dataflux::sample_view;

namespace {

constexpr std::string_view file_front{"sample."};

/// A folder that goes with all that is in it.
class passing_folder {
 public:
  passing_folder() = default;
  passing_folder(const passing_folder&) = delete;
  passing_folder& operator=(const passing_folder&) = delete;
  ~passing_folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  result<void> create() {
    const char* const chosen = std::getenv("TMPDIR");
    path_ = below(chosen != nullptr && *chosen != '\0' ? chosen : "/tmp", "dataflux-XXXXXX");
    if (::mkdtemp(path_.data()) != nullptr) return {};
    const error why = file_error(path_, errno);
    path_.clear();
    return why;
  }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_{};
};

result<void> write_file(const std::string& path, dataflux::bytes_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return file_error(path, "it cannot be written");
  return {};
}

result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string all{std::istreambuf_iterator<char>(file), {}};
  if (!file || file.bad()) return file_error(path, "it cannot be read");
  return all;
}

/// Waits for its end, which a stop brings about.
result<int> wait_for(::pid_t child, const std::stop_token& stop) {
  {
    // As long as nobody has taken its end the number is nobody else's.
    const std::stop_callback told(stop, [child] { ::kill(child, SIGTERM); });
    ::siginfo_t ended{};
    while (::waitid(P_PID, static_cast<::id_t>(child), &ended, WEXITED | WNOWAIT) < 0) {
      if (errno != EINTR) return file_error("sh", errno);
    }
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return file_error("sh", errno);
  }
  return status;
}

/// Of one that ends programs on request. A shell says 128 and its number.
bool is_of_signal(int status) {
  if (WIFSIGNALED(status)) return true;
  const int number = WEXITSTATUS(status) - 128;
  return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

/// A signal for both may end the command before this program has heard of its own.
void hear(const std::stop_token& stop) {
  for (int i = 0; i < 20 && !stop.stop_requested(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// Runs it in the folder. True if it has ended with 0.
result<bool> run(const std::string& command, const std::string& folder, const std::string& key,
                 const std::stop_token& stop) {
  // All that is needed is made before the fork, since other threads may hold locks.
  const std::string variable = "DATAFLUX_KEY=" + key;
  std::vector<char*> environment;
  for (char** each = ::environ; *each != nullptr; ++each) environment.push_back(*each);
  environment.push_back(const_cast<char*>(variable.c_str()));
  environment.push_back(nullptr);
  std::vector<char*> words;
  for (const char* word : {"sh", "-c", command.c_str()}) words.push_back(const_cast<char*>(word));
  words.push_back(nullptr);
  const ::pid_t child = ::fork();
  if (child < 0) return file_error("sh", errno);
  if (child == 0) {
    if (::chdir(folder.c_str()) == 0) ::execve("/bin/sh", words.data(), environment.data());
    ::_exit(127);
  }
  const auto status = wait_for(child, stop);
  if (!status) return status.error();
  if (is_of_signal(*status)) hear(stop);
  return WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
}

/// For files and an environment a name ends with its first NUL.
result<void> check_name(std::string_view name, std::string_view key) {
  if (name.find('\0') == std::string_view::npos) return {};
  return error(errc::invalid_argument, "the sample '" + shown_name(key) +
                                           "' has a NUL in its key or in the name of a field, "
                                           "which no shard that is written has; choose others by "
                                           "--fields");
}

class commanded {
 public:
  commanded(dataflux::sample_source from, std::string command, outcome& report,
            files_left_out& left_out, std::stop_token stop)
      : from_(std::move(from)),
        command_(std::move(command)),
        report_(report),
        left_out_(left_out),
        stop_(std::move(stop)) {}

  result<sample_view*> next() {
    for (;;) {
      if (stop_.stop_requested()) return error(errc::cancelled, "the caller asked to stop");
      auto got = from_();
      if (!got || *got == nullptr) return got;
      const auto good = change(**got);
      if (!good) return good.error();
      if (!*good && stop_.stop_requested()) continue;
      if (*good && !fields_.empty()) return *got;
      report_.failed(error(errc::aborted, (*good ? "the command left no field for the sample '"
                                                 : "the command failed for the sample '") +
                                              shown_name((*got)->key) + "', which is left out"));
    }
  }

 private:
  result<bool> change(sample_view& sample) {
    if (auto good = check_name(sample.key, sample.key); !good) return std::move(good).error();
    passing_folder folder;
    if (auto made = folder.create(); !made) return std::move(made).error();
    for (const auto& field : sample.fields) {
      if (auto good = check_name(field.name, sample.key); !good) return std::move(good).error();
      const std::string path = below(folder.path(), std::string(file_front).append(field.name));
      if (auto good = write_file(path, field.bytes); !good) return std::move(good).error();
    }
    auto ran = run(command_, folder.path(), std::string(sample.key), stop_);
    if (!ran || !*ran) return ran;
    if (auto good = gather(folder.path(), sample.key); !good) return std::move(good).error();
    sample.fields.clear();
    for (const auto& [name, data] : fields_) {
      sample.fields.push_back({name, dataflux::as_bytes(data)});
    }
    return true;
  }
  result<void> gather(const std::string& folder, std::string_view key) {
    fields_.clear();
    std::error_code failure;
    for (std::filesystem::directory_iterator each(folder, failure), end; !failure && each != end;
         each.increment(failure)) {
      const std::string name = each->path().filename().native();
      if (!name.starts_with(file_front) || !each->is_regular_file()) {
        leave_out(name, key);
        continue;
      }
      auto data = read_file(each->path().native());
      if (!data) return std::move(data).error();
      fields_.emplace(name.substr(file_front.size()), *std::move(data));
    }
    if (failure) return file_error(folder, failure.value());
    return {};
  }

  void leave_out(const std::string& name, std::string_view key) {
    if (++left_out_.count > 1) return;
    left_out_.first = "'" + shown_name(name) + "' of the sample '" + shown_name(key) + "'";
  }

  dataflux::sample_source from_;
  const std::string command_;
  outcome& report_;
  files_left_out& left_out_;
  const std::stop_token stop_;
  std::map<std::string, std::string> fields_{};
};

}  // namespace

}  // namespace sample_commands

dataflux::sample_source through_command(dataflux::sample_source from, std::string command,
                                        outcome& report, files_left_out& left_out,
                                        std::stop_token stop) {
  auto all = std::make_unique<sample_commands::commanded>(std::move(from), std::move(command),
                                                          report, left_out, std::move(stop));
  return [all = std::move(all)] { return all->next(); };
}

}  // namespace cli
