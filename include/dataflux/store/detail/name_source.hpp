#pragma once

#include <dataflux/detail/unique_function.hpp>
#include <dataflux/store/object_columns.hpp>

#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

/// The objects of a bucket in UTF-8 byte order of their names, as memory_store lists them. A source
/// that computes its names lets it list a hundred million of them without holding one.
///
/// Threads: const members from any thread.
class name_source {
 public:
  /// Sees one object and says whether it wants the next one. The row is valid during the call.
  using visitor = unique_function<bool(const object_row&)>;

  name_source() = default;
  name_source(const name_source&) = delete;
  name_source& operator=(const name_source&) = delete;
  virtual ~name_source() = default;

  /// Visits the objects whose names are >= `from`, in strictly ascending order, until `visit`
  /// returns false or none is left. A computed source finds the rank of `from` and counts on from
  /// there. Cost: O(log n), then O(1) a row; a listing calls it once per page, and once more for
  /// each prefix that it folds.
  virtual void scan(std::string_view from, visitor& visit) const = 0;
};

}  // namespace dataflux::inline DATAFLUX_ABI
