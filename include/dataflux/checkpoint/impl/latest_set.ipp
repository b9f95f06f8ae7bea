#pragma once

#include <dataflux/checkpoint/detail/latest_set.hpp>
#include <dataflux/checkpoint/detail/open_set.hpp>
#include <dataflux/checkpoint/detail/record_text.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr int most_scans_for_the_latest = 4;

DATAFLUX_INLINE latest_set::latest_set(transfer_context context, std::string bucket,
                                       std::string folder, call_limits limits, completion done)
    : call_coordinator(context.store(), context.strand(), std::move(limits), std::move(done)),
      context_(std::move(context)),
      bucket_(std::move(bucket)),
      folder_(std::move(folder)) {}

DATAFLUX_INLINE void latest_set::begin() {
  ++scans_;
  std::make_shared<set_scan>(
      store(), bucket_, folder_, scan_scope::last_objects, open_uploads::spared,
      member_match::content, limits(),
      then<set_scan_report>([](latest_set& self, result<set_scan_report> report) {
        self.take_sets(std::move(report));
      }))
      ->start();
}

DATAFLUX_INLINE void latest_set::take_sets(result<set_scan_report> report) {
  if (!report) return complete(std::move(report).error());
  candidates_ = std::move(report->sets);
  std::sort(candidates_.begin(), candidates_.end(), committed_before);
  damaged_.clear();
  gone_ = false;
  open_next();
}

DATAFLUX_INLINE void latest_set::open_next() {
  if (candidates_.empty()) return none_left();
  const scanned_set& set = candidates_.back();
  checkpoint_set(context_, bucket_, set.folder)
      .start_open(
          set.last.name.substr(set.folder.size()), limits(),
          then<checkpoint_set_reader>([](latest_set& self, result<checkpoint_set_reader> opened) {
            self.take_set(std::move(opened));
          }));
}

DATAFLUX_INLINE void latest_set::take_set(result<checkpoint_set_reader> set) {
  if (set) return complete(damaged_.empty() ? std::move(set) : with_damage(*set));
  const error& why = set.error();
  if (why.code() == errc::failed_precondition) {
    gone_ = true;
  } else if (why.code() == errc::data_loss) {
    damaged_.push_back({info_of(candidates_.back()), why});
  } else {
    return complete(std::move(set));
  }
  candidates_.pop_back();
  open_next();
}

DATAFLUX_INLINE checkpoint_set_reader latest_set::with_damage(const checkpoint_set_reader& set) {
  auto told = std::make_shared<open_set>(*set.set_);
  told->passed_over = std::move(damaged_);
  return checkpoint_set_reader(std::move(told));
}

DATAFLUX_INLINE void latest_set::none_left() {
  if (gone_ && scans_ < most_scans_for_the_latest) return begin();
  const std::string where = folder_.empty() ? "in the bucket" : "below " + json_quoted(folder_);
  error why =
      gone_ ? error(errc::aborted, "sets " + where + " were removed as fast as they were found")
            : error(errc::not_found, "there is no complete checkpoint set " + where);
  // Who begins anew where nothing is found must not do so here.
  if (!gone_ && !damaged_.empty()) {
    const damaged_checkpoint_set& newest = damaged_.front();
    why = error(errc::data_loss, "there is no complete checkpoint set " + where + "; " +
                                     std::to_string(damaged_.size()) +
                                     " are damaged, of which the newest is " + newest.set.prefix +
                                     ": " + newest.why.message());
  }
  complete(why.with_bucket(bucket_).with_object(folder_).with_retryable(gone_));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
