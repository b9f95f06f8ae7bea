#pragma once

#include <emulator/emulator.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>

/// The authority of a TLS server, in a file for as long as it lives.
class authority_file {
 public:
  explicit authority_file(const emulator::server& server)
      : authority_file(server.authority_pem()) {}
  explicit authority_file(const std::string& pem) {
    const int descriptor = ::mkstemp(path_.data());
    if (descriptor < 0) throw std::system_error(errno, std::generic_category(), path_);
    ::close(descriptor);
    std::ofstream(path_) << pem;
  }
  authority_file(const authority_file&) = delete;
  authority_file& operator=(const authority_file&) = delete;
  ~authority_file() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_{"/tmp/dataflux-authority-XXXXXX"};
};
