#pragma once

#include <cstdio>
#include <cstdlib>

/// An invariant of a fuzz body: when it is broken the program ends, which fuzzers and tests see.
inline void require(bool ok, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (ok) return;
  std::fprintf(stderr, "%s:%d: does not hold\n", file, line);
  std::abort();
}
