#include <dataflux/error.hpp>

#include <string>

std::string describe(const dataflux::error& failure);
std::string describe(const dataflux::error& failure) { return failure.to_string(); }
