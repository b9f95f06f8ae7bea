#pragma once

#include <dataflux/observer.hpp>

#include <string_view>

#include "commands.hpp"
#include "dry_run.hpp"
#include "location.hpp"
#include "outcome.hpp"

namespace cli {

/// What all of one `cp` works with. Borrowed.
struct copy_job {
  const session& with;
  const cp_options& options;
  outcome& report;
  /// Set: what would be copied is told to it, and nothing is.
  dry_run* only_tell{nullptr};

  /// No more is to be begun.
  bool ended() const noexcept { return with.stop.stop_requested() || report.hopeless(); }
};

/// Tells what a failed upload could not remove where its failure itself is not told: after an
/// interrupt, or when the rest is hopeless.
class orphan_notice final : public dataflux::observer {
 public:
  explicit orphan_notice(const copy_job& job) noexcept : job_(job) {}
  void on_log(dataflux::log_level, std::string_view line) noexcept override {
    if (job_.ended()) job_.report.note(line);
  }

 private:
  const copy_job& job_;
};

/// An object into one file, a device or standard output; and the reverse. They report how it ended.
/// What is there already, and right, is not copied with cp_options::go_on.
void download_one(const copy_job& job, const location& source, const location& target);
void upload_one(const copy_job& job, const location& source, const location& target);

/// An object to another name, or all below a folder: within a service by the service, else through
/// here (session::other).
void copy_one_between(const copy_job& job, const location& source, const location& target);
void copy_below_between(const copy_job& job, const location& source, const location& target);

/// Stores what comes from `descriptor` until its end, of any size up to about 650 GiB: parts are
/// sent as they come. Blocks until it is stored. Errors: those of writes; file_error().
dataflux::result<void> upload_stream(const copy_job& job, int descriptor, const std::string& bucket,
                                     const std::string& object);

}  // namespace cli
