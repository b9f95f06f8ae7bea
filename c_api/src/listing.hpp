#pragma once

#include "boundary.hpp"

#include <dataflux/store/object_columns.hpp>

#include <memory>

/// Immutable, and shared with the streams that read it.
struct dataflux_listing {
  std::shared_ptr<const dataflux::object_columns> rows{};
};
