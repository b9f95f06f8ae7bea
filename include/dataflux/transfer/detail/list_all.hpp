#pragma once

#include <dataflux/store/detail/call_coordinator.hpp>
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

void add_page(listed_rows& to, list_page page, bool first);
void add_page(std::vector<listed_upload>& to, upload_page page, bool first);

/// Gathers the pages of a walk.
template <class Walk, class Page, class Found>
class list_all_call final : public call_coordinator<list_all_call<Walk, Page, Found>, Found> {
 public:
  using base = call_coordinator<list_all_call, Found>;

  template <class Request>
  list_all_call(object_store& store, scheduler& strand, Request what,
                typename base::completion done)
      : base(store, strand, what.limits, std::move(done)), walk_(std::move(what)) {}
  void begin() {
    this->store().start(walk_.next(this->limits()),
                        this->template then<Page>([](list_all_call& self, result<Page> page) {
                          self.take(std::move(page));
                        }));
  }

 private:
  void take(result<Page> page) {
    if (!page) return this->fail(std::move(page).error());
    if (auto good = walk_.take(*page); !good) return this->fail(std::move(good).error());
    add_page(found_, *std::move(page), std::exchange(first_, false));
    if (walk_.ended()) return this->complete(std::move(found_));
    begin();
  }

  Walk walk_;
  Found found_{};
  bool first_{true};
};

/// Lists one page after the other, for prefixes that hold few objects; `done` runs on the strand.
/// Errors: those of the pages, and of page_walk. Memory: the rows.
void start_list_all(object_store& store, scheduler& strand, list_page_request what,
                    object_store::completion<listed_rows> done);

/// The same of open uploads.
void start_list_all(object_store& store, scheduler& strand, list_uploads_request what,
                    object_store::completion<std::vector<listed_upload>> done);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/list_all.ipp>
#endif
