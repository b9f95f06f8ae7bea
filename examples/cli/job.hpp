#pragma once

#include <dataflux/buffer.hpp>
#include <dataflux/store/object_store.hpp>

#include <atomic>
#include <stop_token>

#include "dry_run.hpp"
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
  /// What is there already, and right, is not copied.
  bool go_on{false};
  /// Set: what would be copied is told to it, and nothing is.
  dry_run* only_tell{nullptr};
  dataflux::buffer_pool memory{};
  /// What is uploaded replaces objects, as far as is known.
  std::atomic<bool> target_has_objects{false};

  /// In a dry run.
  void tell(std::string_view source, std::string_view target, std::uint64_t size) {
    only_tell->tell(source, target, size);
    report.done(0);
  }
  /// No more is to be begun.
  bool ended() const noexcept { return stop.stop_requested() || report.hopeless(); }
};

/// Up to here a file is sent in one request; above it goes in parallel parts.
inline constexpr std::uint64_t whole_object_limit = std::uint64_t{16} << 20U;

}  // namespace cli
