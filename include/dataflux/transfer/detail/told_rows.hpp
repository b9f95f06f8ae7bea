#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Rows of a listing, and which columns they are to have.
struct listed_before {
  std::string bucket{};
  object_columns rows{};
  extra_columns extra{extra_columns::none};
};

/// Gives rows what their listing did not tell, by a stat of each: for stores without
/// store_traits::lists_metadata, or without crc32c_everywhere. A row then says what is there now,
/// which may be another generation; one that is gone by then is left out. The order stays.
class told_rows final : public call_coordinator<told_rows, object_columns> {
 public:
  told_rows(object_store& store, scheduler& strand, listed_before what, const call_limits& limits,
            completion done)
      : call_coordinator(store, strand, limits, std::move(done)), listed_(std::move(what)) {}

  void begin();
  void idle();

 private:
  void ask_more();

  const listed_before listed_;
  std::vector<object_metadata> told_{};
  std::size_t next_{0};
};

/// `done` runs on the strand. Errors: those of the stats, but for not_found. Cost: a request for
/// each row, 64 at a time.
void start_told_rows(object_store& store, scheduler& strand, listed_before what,
                     const call_limits& limits, object_store::completion<object_columns> done);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/told_rows.ipp>
#endif
