#pragma once

#include <dataflux/download/detail/file_call.hpp>
#include <dataflux/download/get_to_file.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE void start_get_to_file(const transfer_context& context, get_to_file_request request,
                                       object_store::completion<got_file> done) {
  if (auto good = context.store().usable(); !good) {
    return done(std::move(good).error().with_bucket(request.bucket).with_object(request.object));
  }
  context.home().post([call = std::make_shared<detail::file_call>(
                           context, std::move(request), std::move(done))] { call->start(); });
}

}  // namespace dataflux::inline DATAFLUX_ABI
