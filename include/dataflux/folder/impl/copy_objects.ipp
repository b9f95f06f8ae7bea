#pragma once

#include <dataflux/folder/copy_objects.hpp>
#include <dataflux/folder/detail/objects_copy.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE void start_copy_objects(const transfer_context& context,
                                        copy_objects_request request,
                                        object_store::completion<copy_folder_report> done) {
  if (auto good = detail::objects_copy::check(request); !good) {
    return done(std::move(good).error());
  }
  std::make_shared<detail::objects_copy>(context, std::move(request), std::move(done))->start();
}

}  // namespace dataflux::inline DATAFLUX_ABI
