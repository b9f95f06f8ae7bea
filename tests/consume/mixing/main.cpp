#include <dataflux/error.hpp>

#include <string>

std::string describe(const dataflux::error& failure);

int main() {
  return describe(dataflux::error{dataflux::errc::not_found, "gone"}) == "not_found: gone" ? 0 : 1;
}
