#pragma once

#include <dataflux/checkpoint/detail/file_upload.hpp>
#include <dataflux/checkpoint/upload_file.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE void start_upload_file(const transfer_context& context, upload_file_request request,
                                       object_store::completion<uploaded_file> done) {
  const object_upload_request& upload = request.upload;
  if (auto good = context.store().usable(upload.bucket, upload.object); !good) {
    return done(std::move(good).error());
  }
  context.home().post([call = std::make_shared<detail::file_upload>(
                           context, std::move(request), std::move(done))] { call->start(); });
}

}  // namespace dataflux::inline DATAFLUX_ABI
