#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

/// All bytes of a file in tests/vectors, such as "tar/odd/plain.tar". Needs DATAFLUX_VECTORS, the
/// folder's path.
inline std::string vector_file(const std::string& name) {
  std::ifstream file(DATAFLUX_VECTORS "/" + name, std::ios::binary);
  if (!file) throw std::runtime_error("no such file in tests/vectors: " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}
