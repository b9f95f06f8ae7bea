// There is no error that says nothing.
// expect: no (matching function|matching constructor|default constructor)
#include <dataflux/error.hpp>

dataflux::error make();
dataflux::error make() {
#if defined(WRONG)
  return dataflux::error{};
#else
  return dataflux::error{dataflux::errc::internal, "said"};
#endif
}
