#pragma once

#include <dataflux/download/detail/sweeper.hpp>
#include <dataflux/download/sweep.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE operation<sweep_report> submit_sweep_composites(object_store& store,
                                                                const std::string& bucket,
                                                                sweep_options options) {
  return start_operation<sweep_report>(options.limits, [&](auto done) {
    std::make_shared<detail::sweeper>(store, bucket, options, std::move(done))->start();
  });
}

DATAFLUX_INLINE result<sweep_report> sweep_composites(object_store& store,
                                                      const std::string& bucket,
                                                      sweep_options options) {
  return submit_sweep_composites(store, bucket, std::move(options)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI
