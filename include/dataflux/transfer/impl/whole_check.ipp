#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/exec/detail/blocking_worker.hpp>
#include <dataflux/transfer/detail/whole_check.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Bytes of a step: some 30 ms.
inline constexpr std::size_t checked_a_step = std::size_t{64} << 20U;

struct whole_check : std::enable_shared_from_this<whole_check> {
  whole_check(bytes_view all, const codec::whole_checksum& wanted,
              object_store::completion<bool> then) noexcept
      : rest(all), run(wanted), done(std::move(then)) {}

  void go_on() {
    const auto begun = try_file_step([self = shared_from_this()] { self->step(); });
    if (!begun) done(begun.error());
  }
  void step() {
    const bytes_view some = rest.first(std::min(rest.size(), checked_a_step));
    run.extend(some);
    rest = rest.subspan(some.size());
    if (!rest.empty()) return go_on();
    done(run.good());
  }

  bytes_view rest;
  codec::checksum_run run;
  object_store::completion<bool> done;
};

DATAFLUX_INLINE void start_whole_check(bytes_view all, const codec::whole_checksum& wanted,
                                       object_store::completion<bool> done) {
  std::make_shared<whole_check>(all, wanted, std::move(done))->go_on();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
