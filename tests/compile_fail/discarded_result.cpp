// A failure that nobody looks at must not compile in silence.
// expect: discard|ignoring|nodiscard
#include <dataflux/result.hpp>

dataflux::result<void> save();

void caller();
void caller() {
  if (!save()) return;
#if defined(WRONG)
  save();
#endif
}
