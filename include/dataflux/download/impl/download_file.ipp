#pragma once

#include <dataflux/download/detail/file_download.hpp>
#include <dataflux/download/download_file.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE void start_download_file(const transfer_context& context,
                                         download_file_request request,
                                         object_store::completion<downloaded_file> done) {
  if (auto good = context.store().usable(request.bucket, request.object); !good) {
    return done(std::move(good).error());
  }
  context.home().post([call = std::make_shared<detail::file_download>(
                           context, std::move(request), std::move(done))] { call->start(); });
}

}  // namespace dataflux::inline DATAFLUX_ABI
