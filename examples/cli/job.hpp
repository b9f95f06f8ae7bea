#pragma once

#include <dataflux/buffer.hpp>
#include <dataflux/store/object_store.hpp>

#include <stop_token>

#include "outcome.hpp"
#include "pipeline.hpp"

namespace cli {

/// What every copy works with. Borrowed; all of it outlives the pipeline's items.
struct job {
  dataflux::object_store& store;
  pipeline& flow;
  outcome& report;
  /// Of all its requests: the person's, or because the rest is hopeless.
  std::stop_token stop{};
  dataflux::buffer_pool memory{};

  /// No more is to be begun.
  bool ended() const noexcept { return stop.stop_requested() || report.hopeless(); }
};

/// Up to here an object is one request; above it goes in parallel pieces.
inline constexpr std::uint64_t whole_object_limit = std::uint64_t{16} << 20U;
/// Bytes of one ranged read.
inline constexpr std::uint64_t range_size = std::uint64_t{8} << 20U;

}  // namespace cli
