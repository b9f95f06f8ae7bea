#pragma once

#include "boundary.hpp"

#include <dataflux/cache/disk_cache.hpp>

#include <utility>

struct dataflux_cache : dataflux_c::handle {
  explicit dataflux_cache(dataflux::disk_cache opened) : what(std::move(opened)) {}
  const dataflux::disk_cache what;
};
