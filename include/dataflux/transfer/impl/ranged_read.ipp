#pragma once

#include <dataflux/transfer/detail/ranged_call.hpp>
#include <dataflux/transfer/ranged_read.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE void start_ranged_read(read_engine& engine, ranged_read_request request,
                                       bytes_span into,
                                       object_store::completion<ranged_read_summary> done,
                                       read_member* whose) {
  const auto call = std::make_shared<detail::ranged_call>(engine, std::move(request), into,
                                                          std::move(done), whose);
  if (into.empty()) return engine.home().post([call] { call->end(); });
  call->pump();
}

}  // namespace dataflux::inline DATAFLUX_ABI
