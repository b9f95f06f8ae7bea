#pragma once

#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/detail/set_scan.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Finds the newest complete set below a folder, and opens it. It scans for last
/// objects (begin), then opens one candidate after the other, the newest first (open_next), until
/// one is complete. A candidate may be damaged, or gone since the scan. When none is left and some
/// were gone it scans again.
class latest_set final : public call_coordinator<latest_set, checkpoint_set_reader> {
 public:
  /// `folder` ends with a slash, or is empty for the whole bucket.
  latest_set(transfer_context context, std::string bucket, std::string folder, call_limits limits,
             completion done);
  void start() { coordinator::start(bucket_, folder_); }
  void begin();

 private:
  void take_sets(result<set_scan_report> report);
  void open_next();
  void take_set(result<checkpoint_set_reader> set);
  checkpoint_set_reader with_damage(const checkpoint_set_reader& set);
  void none_left();

  const transfer_context context_;
  const std::string bucket_;
  const std::string folder_;
  std::vector<scanned_set> candidates_{};          ///< the newest at the end
  std::vector<damaged_checkpoint_set> damaged_{};  ///< the newest first
  bool gone_{false};                               ///< a candidate of this scan was removed
  int scans_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/latest_set.ipp>
#endif
