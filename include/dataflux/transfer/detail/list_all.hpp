#pragma once

#include <dataflux/store/detail/coordinator.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/page_walk.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// All objects below a prefix, in order of names.
struct listed_rows {
  object_columns rows{};
  /// When the first page was made, by the service's clock; nothing where it does not tell.
  std::optional<timestamp> served{};
};

/// Private: gathers the pages of a listing.
class list_all_call final : public call_coordinator<list_all_call, listed_rows> {
 public:
  list_all_call(object_store& store, scheduler& strand, list_page_request what, completion done)
      : call_coordinator(store, strand, what.limits, std::move(done)), walk_(std::move(what)) {}
  void begin();

 private:
  void take(result<list_page> page);

  page_walk walk_;
  listed_rows found_{};
  bool first_{true};
};

/// Lists one page after the other, for prefixes that hold few objects; `done` runs on the strand.
/// Errors: those of the pages, and of page_walk. Memory: the rows.
void start_list_all(object_store& store, scheduler& strand, list_page_request what,
                    object_store::completion<listed_rows> done);

/// Private: the same of open uploads.
class list_uploads_call final
    : public call_coordinator<list_uploads_call, std::vector<listed_upload>> {
 public:
  list_uploads_call(object_store& store, scheduler& strand, list_uploads_request what,
                    completion done)
      : call_coordinator(store, strand, what.limits, std::move(done)), walk_(std::move(what)) {}
  void begin();

 private:
  void take(result<upload_page> page);

  upload_walk walk_;
  std::vector<listed_upload> found_{};
};

void start_list_all(object_store& store, scheduler& strand, list_uploads_request what,
                    object_store::completion<std::vector<listed_upload>> done);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/list_all.ipp>
#endif
