#include <dataflux/folder/copy_folder.hpp>

#include <atomic>
#include <optional>
#include <utility>

#include "copy_job.hpp"
#include "local_path.hpp"

namespace cli {

using dataflux::copy_folder_report;
using dataflux::copy_folder_request;
using dataflux::copy_item;
using dataflux::copy_outcome;
using dataflux::errc;
using dataflux::error;
using dataflux::result;

namespace {

/// What became of one name.
void tell(const copy_job& job, const std::string& bucket, bool down, const copy_item& item) {
  const std::string path(item.path);
  if (!item.note.empty()) job.report.note(path + ": " + std::string(item.note));
  if (item.failure != nullptr) return job.report.failed(file_error(*item.failure));
  if (job.only_tell == nullptr) return job.report.done(0, down ? item.path : item.object);
  job.report.done(0);
  const std::string url = shown_url(job.with.scheme(), bucket, item.object);
  if (item.outcome == copy_outcome::removed) {
    job.only_tell->tell_removal(down ? path : url, item.bytes);
  } else if (item.outcome == copy_outcome::copied) {
    job.only_tell->tell(down ? url : path, down ? path : url, item.bytes);
  }
}

copy_folder_request request_for(const copy_job& job, const std::string& bucket, bool down) {
  copy_folder_request request;
  request.bucket = bucket;
  request.resume = job.options.go_on;
  request.dry_run = job.options.dry_run;
  request.delete_extra = job.options.delete_extra;
  request.max_failures = 1;  // each is told
  request.item = [&job, bucket, down](const copy_item& item) { tell(job, bucket, down, item); };
  request.found = [&job](std::uint64_t objects, std::uint64_t bytes) {
    job.report.expect(objects, bytes);
  };
  request.progress = [&job](std::uint64_t bytes) { job.report.moved(bytes); };
  request.limits.stop = job.with.stop;
  return request;
}

void report_end(const copy_job& job, const result<copy_folder_report>& copied) {
  if (!copied) return job.report.failed(file_error(copied.error()));
  if (!copied->not_removed.empty()) {
    job.report.failed(
        error(errc::failed_precondition, "nothing was removed: " + copied->not_removed));
  }
}

void download_below(const copy_job& job, const location& source, const location& target) {
  std::string root = target.path;
  // What the first of two runs makes must not lead the second one elsewhere.
  if (root.ends_with('/') || (!job.options.go_on && kind_of(root) == path_kind::folder)) {
    const std::string leaf = source.name.ends_with('/') ? "" : last_component(source.name);
    if (const auto why = dataflux::why_no_file_name(leaf); !leaf.empty() && !why.empty()) {
      return job.report.failed(
          file_error(shown_url(source.scheme, source.bucket, leaf),
                     "not copied, its name can be no file's here: " + std::string(why)));
    }
    if (!leaf.empty()) root += "/" + leaf;
  }
  auto request = request_for(job, source.bucket, true);
  request.path = root;
  request.prefix = source.name;
  const auto copied = dataflux::download_folder(job.with.transfers, std::move(request));
  const bool nothing = copied && copied->found == 0 && !source.name.empty();
  if (!nothing) return report_end(job, copied);
  // Nothing below: it may be one object.
  if (!source.name.ends_with('/')) return download_one(job, source, target);
  job.report.failed(error(errc::not_found, "nothing is below it")
                        .with_scheme(source.scheme)
                        .with_bucket(source.bucket)
                        .with_object(source.name));
}

void upload_below(const copy_job& job, const location& source, const location& target) {
  if (kind_of(source.path) != path_kind::folder) return upload_one(job, source, target);
  std::string prefix = target.name;
  if ((prefix.empty() || prefix.ends_with('/')) && !source.path.ends_with('/')) {
    prefix += last_component(source.path);
  }
  orphan_notice orphans(job);
  auto request = request_for(job, target.bucket, false);
  request.path = source.path;
  request.prefix = prefix;
  request.observer = &orphans;
  report_end(job, dataflux::upload_folder(job.with.transfers, std::move(request)));
}

result<std::pair<location, location>> parse_ends(const cp_options& options) {
  auto source = parse_location(options.source);
  if (!source) return source.error();
  auto target = parse_location(options.target);
  if (!target) return target.error();
  if (!source->is_object() && !target->is_object()) {
    return error(errc::invalid_argument,
                 "neither side is gs://bucket/name (s3://, ais://); for files use the system's cp");
  }
  if (source->is_object() && target->is_object() && (options.go_on || options.delete_extra)) {
    return error(errc::invalid_argument,
                 std::string(options.go_on ? "--continue" : "--delete-extra") +
                     " needs a file or a folder here on one side: not between two buckets");
  }
  const bool stream =
      source->where == location::kind::stream || target->where == location::kind::stream;
  if (stream && options.recursive) {
    return error(errc::invalid_argument, "-r needs a folder, and '-' is none");
  }
  if (stream && options.go_on) {
    return error(errc::invalid_argument, "--continue needs files, and '-' is none");
  }
  if (!options.recursive && options.delete_extra) {
    return error(errc::invalid_argument, "--delete-extra is for folders; give -r");
  }
  if (!options.recursive && source->is_object() && source->name.empty()) {
    return error(errc::invalid_argument, source->to_string() + " is a bucket; `cp -r` copies all");
  }
  return std::pair{std::move(*source), std::move(*target)};
}

/// Before any request, since each of a thousand files would fail alike.
result<void> check_target(const session& with, const location& target) {
  const session& to = with.other == nullptr ? with : *with.other;
  if (!target.is_object() || to.store.traits().conditional_changes) return {};
  return error(errc::invalid_argument,
               target.to_string() +
                   ": `cp` writes under a condition, so that no object of another program is lost, "
                   "and " +
                   std::string(to.scheme()) +
                   ":// has none; `dataflux.put(url, data)` in Python writes there without one, "
                   "and so do the service's own tools");
}

exit_status fail(const error& why) {
  outcome report(nullptr);
  report.failed(why);
  return report.status();
}

}  // namespace

exit_status run_cp(const session& with, const cp_options& options) {
  const auto ends = parse_ends(options);
  if (!ends) return fail(ends.error());
  if (auto good = check_target(with, ends->second); !good) return fail(good.error());
  const auto& [source, target] = *ends;
  const bool down = source.is_object();
  const bool between = down && target.is_object();
  dry_run plan;
  std::optional<progress> bar;
  if (!options.dry_run) {
    bar.emplace(between ? "copying"
                : down  ? "downloading"
                        : "uploading",
                0, [totals = with.totals, down] {
                  if (totals == nullptr) return std::uint64_t{0};
                  return (down ? totals->bytes_received : totals->bytes_sent)
                      .load(std::memory_order_relaxed);
                });
  }
  outcome report(bar ? &*bar : nullptr);
  const copy_job job{with, options, report, options.dry_run ? &plan : nullptr};
  if (between) {
    options.recursive ? copy_below_between(job, source, target)
                      : copy_one_between(job, source, target);
  } else if (down) {
    options.recursive ? download_below(job, source, target) : download_one(job, source, target);
  } else {
    options.recursive ? upload_below(job, source, target) : upload_one(job, source, target);
  }
  if (options.dry_run) plan.finish(report);
  return report.status();
}

}  // namespace cli
