#pragma once

#include <dataflux/exec/detail/replacing_file.hpp>
#include <dataflux/list/detail/manifest_encoder.hpp>
#include <dataflux/list/manifest.hpp>

#include <string>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE result<void> save_manifest(const std::string& path,
                                           const manifest_description& description,
                                           const object_columns& rows) {
  detail::manifest_encoder encoder{description, rows};
  detail::replacing_file file{path};
  if (auto made = file.create(); !made) return made;
  std::string piece;
  while (!encoder.done()) {
    piece.clear();
    if (auto good = encoder.append_to(piece); !good) return good;
    if (auto good = file.write(piece); !good) return good;
  }
  return file.put_in_place();
}

}  // namespace dataflux::inline DATAFLUX_ABI
