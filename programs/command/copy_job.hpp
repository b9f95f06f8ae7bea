#pragma once

#include <dataflux/codec/timestamp.hpp>
#include <dataflux/observer.hpp>

#include <terminal/progress.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "commands.hpp"
#include "dry_run.hpp"
#include "location.hpp"
#include "outcome.hpp"
#include "selecting.hpp"

namespace cli {

/// What all of one `cp` works with. Borrowed.
struct copy_job {
  const session& with;
  const cp_options& options;
  outcome& report;
  /// Set: what would be copied is told to it, and nothing is.
  dry_run* only_tell{nullptr};
  /// What the options select of the names below a source.
  dataflux::name_selection narrowed{};
  /// What new objects get; empty = as their sources, or their names, say.
  dataflux::object_attributes attributes{};
  /// When the command began.
  dataflux::timestamp started{};

  deed copied() const noexcept { return options.moves() ? deed::moved : deed::copied; }
  const session& target() const noexcept { return with.other == nullptr ? with : *with.other; }
  /// No more is to be begun.
  bool ended() const noexcept { return with.stop.stop_requested() || report.hopeless(); }
};

/// Tells what a failed upload could not remove where its failure itself is not told: after an
/// interrupt, or when the rest is hopeless.
class orphan_notice final : public dataflux::observer {
 public:
  explicit orphan_notice(const copy_job& job) noexcept : job_(job) {}
  void on_log(dataflux::log_level, std::string_view line) noexcept override {
    if (job_.ended()) print_line("dataflux: " + std::string(line));
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
void copy_below_between(const copy_job& job, const source& from, const location& target);

/// The same between two services: all is read and written here.
void copy_one_across(const copy_job& job, const dataflux::object_metadata& from,
                     const location& target, const std::string& name);
void copy_below_across(const copy_job& job, const source& from, const location& target,
                       const std::string& root);

/// Tells one between buckets, where nothing is to be copied. False: it is to be.
bool only_told(const copy_job& job, const location& source, const location& target,
               std::string_view name, const std::string& to, std::uint64_t size);

/// Of a move: removes a file that was copied, unless it, or what has its name, has changed since
/// the command began; and an object, by the generation that was copied. Below `root` no link is
/// followed, which may have come meanwhile. Failures are reported. True: it is gone.
bool remove_sent(const copy_job& job, const std::string& root, const std::string& path,
                 std::uint64_t size);
bool remove_received(const copy_job& job, const std::string& bucket, const std::string& name,
                     std::int64_t generation);

/// Stores what comes from `descriptor` until its end, of any size up to about 650 GiB: parts are
/// sent as they come. Blocks until it is stored, and gives its size. Errors: those of writes;
/// file_error().
dataflux::result<std::uint64_t> upload_stream(const copy_job& job, int descriptor,
                                              const std::string& bucket, const std::string& object);

}  // namespace cli
