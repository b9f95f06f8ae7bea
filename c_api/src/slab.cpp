#include "boundary.hpp"

#include <dataflux/detail/slab.hpp>

void dataflux_slabs_release(const uint64_t* slabs, size_t count) {
  for (size_t i = 0; slabs != nullptr && i < count; ++i) {
    if (slabs[i] != 0) dataflux::detail::shared_bytes::give_back(slabs[i]);
  }
}

void dataflux_slab_memory(uint64_t slab, void** data, uint64_t* size) {
  const dataflux::bytes_span memory =
      slab == 0 ? dataflux::bytes_span() : dataflux::detail::shared_bytes::memory_of(slab);
  if (data != nullptr) *data = memory.data();
  if (size != nullptr) *size = memory.size();
}
