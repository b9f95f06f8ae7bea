#pragma once

#include <dataflux/auth/detail/environment.hpp>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// A machine with the variables and files that a test gives it; remembers what was read.
class scripted_environment final : public dataflux::detail::auth::environment {
 public:
  scripted_environment() = default;
  explicit scripted_environment(const std::string& home) { variables["HOME"] = home; }

  std::map<std::string, std::string> variables{};
  std::map<std::string, std::string> files{};
  std::map<std::string, dataflux::errc> broken{};
  mutable std::vector<std::string> read{};

  std::optional<std::string> variable(const char* name) const override {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  }
  dataflux::result<std::string> read_file(const std::string& path) const override {
    read.push_back(path);
    if (const auto bad = broken.find(path); bad != broken.end()) {
      return dataflux::error{bad->second, path + ": broken"};
    }
    const auto found = files.find(path);
    if (found != files.end()) return found->second;
    return dataflux::error{dataflux::errc::not_found, path + ": No such file or directory"};
  }
  dataflux::result<void> replace_file(const std::string& path,
                                      std::string_view text) const override {
    replaced[path] = text;
    return {};
  }
  dataflux::result<std::string> run(
      const dataflux::detail::auth::program_call& called) const override {
    ran.push_back(called);
    return program(called.words);
  }

  mutable std::vector<dataflux::detail::auth::program_call> ran{};

  mutable std::map<std::string, std::string> replaced{};
  std::function<dataflux::result<std::string>(const std::vector<std::string>&)> program =
      [](const std::vector<std::string>&) {
        return dataflux::error{dataflux::errc::not_found, "no program"};
      };
};

}  // namespace test
