#pragma once

#include <dataflux/detail/file_error.hpp>
#include <dataflux/download/detail/download_file_job.hpp>
#include <dataflux/download/download_file.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE void start_download_file(const transfer_context& context,
                                         download_file_request request,
                                         object_store::completion<downloaded_file> done) {
  if (auto good = detail::check_path(request.path); !good) return done(std::move(good).error());
  std::make_shared<detail::download_file_job>(context, std::move(request), std::move(done))
      ->start();
}

}  // namespace dataflux::inline DATAFLUX_ABI
