#include <support/usr_files.hpp>

#include <charconv>
#include <fstream>
#include <stdexcept>

/// A line of the file: how much the name has in common with the one before, a 'b' or a 't' if only
/// the system of that name has it, and the rest of the name behind a space.
std::vector<std::string> usr_files(char system) {
  std::ifstream lines(DATAFLUX_USR_FILES);
  if (!lines) throw std::runtime_error("no file " DATAFLUX_USR_FILES);
  std::vector<std::string> names;
  std::string name;
  std::string line;
  while (std::getline(lines, line)) {
    std::size_t common = 0;
    const char* const mark = std::from_chars(line.data(), line.data() + line.size(), common).ptr;
    const bool shared = *mark == ' ';
    name.resize(common);
    name.append(shared ? mark + 1 : mark + 2);
    if (shared || *mark == system) names.push_back(name);
  }
  return names;
}
