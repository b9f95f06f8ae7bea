#pragma once

#include <dataflux/transfer/detail/ranged_call.hpp>
#include <dataflux/transfer/detail/ranged_read.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE ranged_read start_ranged_read(read_engine& engine, ranged_read_request request,
                                              bytes_span into,
                                              object_store::completion<ranged_read_summary> done,
                                              read_member* whose) {
  auto call =
      std::make_shared<ranged_call>(engine, std::move(request), into, std::move(done), whose);
  if (into.empty()) {
    engine.strand().post([call] { call->end(); });
  } else {
    call->begin();
  }
  return ranged_read(std::move(call));
}

DATAFLUX_INLINE void ranged_read::allow(std::uint64_t bytes) {
  const auto call = call_;  // which may end
  call->allow(bytes);
}

DATAFLUX_INLINE bool ranged_read::waits() const noexcept { return call_->in_flight() == 0; }

}  // namespace dataflux::inline DATAFLUX_ABI::detail
