#pragma once

#include <cstdint>

namespace dataflux::test {

/// Calls of operator new so far, in a program that is linked with counted_new.cpp. Any thread.
std::int64_t allocations() noexcept;

}  // namespace dataflux::test
