#pragma once

#include <cstdlib>

/// An invariant of a fuzz body: when it is broken the program ends, which fuzzers and tests see.
inline void require(bool ok) {
  if (!ok) std::abort();
}
