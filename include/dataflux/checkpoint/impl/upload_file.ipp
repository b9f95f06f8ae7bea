#pragma once

#include <dataflux/checkpoint/detail/upload_file_job.hpp>
#include <dataflux/checkpoint/upload_file.hpp>
#include <dataflux/detail/file_error.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE void start_upload_file(const transfer_context& context, upload_file_request request,
                                       object_store::completion<uploaded_file> done) {
  if (auto good = detail::check_path(request.path); !good) return done(std::move(good).error());
  std::make_shared<detail::upload_file_job>(context, std::move(request), std::move(done))->start();
}

}  // namespace dataflux::inline DATAFLUX_ABI
