#pragma once

#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/page_walk.hpp>
#include <dataflux/transfer/detail/told_rows.hpp>

#include <optional>
#include <type_traits>
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
      : base(store, strand, what.limits, std::move(done)) {
    if constexpr (requires { what.extra; }) {
      if (has(what.extra, extra_columns::metadata) && !store.traits().lists_metadata) {
        asked_.emplace(listed_before{.bucket = what.bucket, .extra = what.extra});
      }
    }
    walk_.emplace(std::move(what));
  }
  void begin() {
    this->store().start(walk_->next(this->limits()),
                        this->template then<Page>([](list_all_call& self, result<Page> page) {
                          self.take(std::move(page));
                        }));
  }

 private:
  void take(result<Page> page) {
    if (!page) return this->fail(std::move(page).error());
    if (auto good = walk_->take(*page); !good) return this->fail(std::move(good).error());
    add_page(found_, *std::move(page), std::exchange(first_, false));
    if (!walk_->ended()) return begin();
    if constexpr (std::is_same_v<Found, listed_rows>) {
      if (asked_) return ask_each();
    }
    this->complete(std::move(found_));
  }
  void ask_each() {
    asked_->rows = std::move(found_.rows);
    start_told_rows(this->store(), this->strand(), *std::move(asked_), this->limits(),
                    this->template then<object_columns>([](list_all_call& self, auto told) {
                      if (!told) return self.fail(std::move(told).error());
                      self.found_.rows = *std::move(told);
                      self.complete(std::move(self.found_));
                    }));
  }

  std::optional<Walk> walk_{};
  std::optional<listed_before> asked_{};  ///< what the listing does not tell
  Found found_{};
  bool first_{true};
};

/// Lists one page after the other, for prefixes that hold few objects; `done` runs on the strand.
/// Custom metadata that are asked for are asked of each object where the listing lacks them.
/// Errors: those of the pages, of page_walk, and of told_rows. Memory: the rows.
void start_list_all(object_store& store, scheduler& strand, list_page_request what,
                    object_store::completion<listed_rows> done);

/// The same of open uploads.
void start_list_all(object_store& store, scheduler& strand, list_uploads_request what,
                    object_store::completion<std::vector<listed_upload>> done);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/list_all.ipp>
#endif
