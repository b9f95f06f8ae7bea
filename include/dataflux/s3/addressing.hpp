#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::s3 {

/// Where a request says which bucket it is about.
enum class addressing : std::uint8_t {
  /// In the host's name on AWS, unless the bucket's name has dots, which no certificate covers; in
  /// the path on servers of others.
  automatic,
  virtual_hosted,  ///< BUCKET.HOST
  path,            ///< HOST/BUCKET
};

}  // namespace dataflux::inline DATAFLUX_ABI::s3
