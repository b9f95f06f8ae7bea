#pragma once

#include <dataflux/folder/copy_folder.hpp>
#include <dataflux/folder/detail/folder_download.hpp>
#include <dataflux/folder/detail/folder_upload.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE void start_upload_folder(const transfer_context& context,
                                         copy_folder_request request,
                                         object_store::completion<copy_folder_report> done) {
  std::make_shared<detail::folder_upload>(context, std::move(request), std::move(done))->start();
}

DATAFLUX_INLINE void start_download_folder(const transfer_context& context,
                                           copy_folder_request request,
                                           object_store::completion<copy_folder_report> done) {
  std::make_shared<detail::folder_download>(context, std::move(request), std::move(done))->start();
}

}  // namespace dataflux::inline DATAFLUX_ABI
