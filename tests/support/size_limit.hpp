#pragma once

#include <support/catch.hpp>

#include <sys/resource.h>

#include <csignal>

/// No file of this process grows beyond `most`, as on a disk that is full.
struct size_limit {
  explicit size_limit(rlim_t most) {
    ::getrlimit(RLIMIT_FSIZE, &before);
    rlimit now = before;
    now.rlim_cur = most;
    handler = std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &now) == 0);
  }
  size_limit(const size_limit&) = delete;
  size_limit& operator=(const size_limit&) = delete;
  ~size_limit() {
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
  }
  rlimit before{};
  void (*handler)(int);
};
