#pragma once

#include <dataflux/shard/shard_index.hpp>

#include <string>

/// Immutable, and plain memory: also in the child of a fork.
struct dataflux_shard_index {
  dataflux::shard_index what;
  std::string json;
};
