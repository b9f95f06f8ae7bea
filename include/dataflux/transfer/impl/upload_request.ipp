#pragma once

#include <dataflux/transfer/upload_request.hpp>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE std::string_view to_string(commit_mode mode) noexcept {
  return mode == commit_mode::staged ? "staged" : "direct";
}

DATAFLUX_INLINE std::string_view to_string(upload_path path) noexcept {
  switch (path) {
    case upload_path::insert:
      return "insert";
    case upload_path::multipart:
      return "multipart";
    case upload_path::resumable:
      return "resumable";
  }
  return "insert";
}

}  // namespace dataflux::inline DATAFLUX_ABI
