#include <dataflux/folder/copy_folder.hpp>
#include <dataflux/transfer/remove_objects.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "copy_ends.hpp"
#include "copy_job.hpp"
#include "local_path.hpp"
#include "selecting.hpp"

namespace cli {

using dataflux::copy_folder_report;
using dataflux::copy_folder_request;
using dataflux::copy_item;
using dataflux::copy_outcome;
using dataflux::errc;
using dataflux::error;
using dataflux::result;

namespace {

/// What a move has sent. It is removed when all is sent: a link may lead to another one of them.
class sent_files {
 public:
  void add(const std::string& url, const std::string& path, std::uint64_t size) {
    all_.push_back({url, path, size});
  }
  void remove(const copy_job& job, const std::string& root) const {
    for (const one& each : all_) {
      if (!remove_sent(job, root, each.path, each.size)) continue;
      job.report.done(
          {.how = job.copied(), .source = each.path, .target = each.url, .bytes = each.size});
    }
  }

 private:
  struct one {
    std::string url{};
    std::string path{};
    std::uint64_t size{0};
  };
  std::vector<one> all_{};
};

/// For the last line; a folder is no object.
void count(const copy_job& job, const std::string& url, const std::string& path, bool down,
           const copy_item& item, sent_files& sent) {
  const std::string& target = down ? path : url;
  if (item.outcome == copy_outcome::folder) return job.report.done(0, target);
  if (item.outcome == copy_outcome::removed) {
    return job.report.done({.how = deed::removed, .target = target, .bytes = item.bytes});
  }
  const bool kept = item.outcome == copy_outcome::already_there;
  if (job.options.moves() && !kept && !down) return sent.add(url, path, item.bytes);
  job.report.done({.how = kept ? deed::kept : job.copied(),
                   .source = down ? url : path,
                   .target = target,
                   .bytes = item.bytes});
}

/// What became of one name.
void tell(const copy_job& job, const std::string& bucket, bool down, const copy_item& item,
          sent_files& sent) {
  const std::string path(item.path);
  if (!item.note.empty()) job.report.note(path + ": " + std::string(item.note));
  if (item.failure != nullptr) return job.report.failed(file_error(*item.failure));
  const std::string url = shown_url(job.with.scheme(), bucket, item.object);
  if (job.only_tell == nullptr) return count(job, url, path, down, item, sent);
  job.report.done(0);
  if (item.outcome == copy_outcome::removed) {
    job.only_tell->tell_removal(down ? path : url, item.bytes);
  } else if (item.outcome == copy_outcome::copied) {
    job.only_tell->tell(down ? url : path, down ? path : url, item.bytes);
  }
}

copy_folder_request request_for(const copy_job& job, const std::string& bucket, bool down,
                                missing_names& missing, sent_files& sent) {
  copy_folder_request request;
  request.bucket = bucket;
  request.resume = job.options.go_on || job.options.syncs();
  request.by_time = job.options.syncs() && !job.options.by_checksum;
  request.no_clobber = job.options.no_clobber;
  request.attributes = job.attributes;
  request.dry_run = job.options.dry_run;
  request.delete_extra = job.options.delete_extra;
  request.max_failures = 1;  // each is told
  request.item = [&job, bucket, down, &missing, &sent](const copy_item& item) {
    missing.met(item.object);
    tell(job, bucket, down, item, sent);
  };
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

/// Where what is below a folder goes: the folder's own name comes below a target that ends with
/// '/'; names of a pattern and of a list are below the target as they are.
result<std::string> folder_below(const copy_job& job, const location& source,
                                 const std::string& target) {
  // What the first of two runs makes must not lead the second one elsewhere.
  if (job.options.syncs()) return target;
  const bool takes_in =
      target.ends_with('/') || (!job.options.go_on && kind_of(target) == path_kind::folder);
  const std::string leaf =
      takes_in && !source.name.ends_with('/') ? last_component(source.name) : "";
  if (leaf.empty()) return target;
  if (const auto why = dataflux::why_no_file_name(leaf); !why.empty()) {
    return file_error(shown_url(source.scheme, source.bucket, leaf),
                      "not copied, its name can be no file's here: " + std::string(why));
  }
  return target + "/" + leaf;
}

/// What a move has received, and removes where it was, by the generations that were read.
class received {
 public:
  void add(const copy_item& item) {
    rows_.append(item.object, item.bytes, item.generation, std::nullopt);
  }
  /// `folder`: which has them now. They are on its disk before they are removed elsewhere.
  void remove(const copy_job& job, const std::string& bucket, const std::string& folder) {
    if (rows_.empty() || !flushed(job, folder)) return;
    const auto told = [&job](const dataflux::removal_progress& at) {
      for (const auto& each : at.ended) {
        if (each.failure) job.report.failed(*each.failure);
      }
    };
    const auto removed =
        dataflux::remove_objects(job.with.store, {.bucket = bucket,
                                                  .rows = std::move(rows_),
                                                  .progress = told,
                                                  .limits = {.stop = job.with.stop}});
    if (!removed) job.report.failed(removed.error());
  }

 private:
  static bool flushed(const copy_job& job, const std::string& folder) {
    const int opened =
        ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool good = opened >= 0 && ::syncfs(opened) == 0;
    if (!good) job.report.failed(file_error(folder, errno));
    if (opened >= 0) ::close(opened);
    return good;
  }

  dataflux::object_columns rows_{};
};

void download_below(const copy_job& job, const source& from, const location& target) {
  const location& where = from.where;
  auto root =
      from.many() ? result<std::string>(target.path) : folder_below(job, where, target.path);
  if (!root) return job.report.failed(root.error());
  missing_names missing(from, where.name);
  sent_files none;
  auto request = request_for(job, where.bucket, true, missing, none);
  request.path = *root;
  request.prefix = where.name;
  request.select = selection_in(from, job.narrowed, job.options.recursive);
  request.rows = from.rows;
  received moved;
  if (job.options.moves()) {
    request.item = [&moved, told = std::move(request.item)](const copy_item& item) {
      if (item.outcome == copy_outcome::copied) moved.add(item);
      told(item);
    };
  }
  const auto copied = dataflux::download_folder(job.with.transfers, std::move(request));
  if (copied && !job.ended()) missing.report(job.report);
  moved.remove(job, where.bucket, *root);
  if (!from.names.empty() || !copied || copied->found > 0) return report_end(job, copied);
  if (from.many() || job.options.select.narrows()) {
    return job.report.failed(nothing_matches(from, job.options.select));
  }
  if (where.name.empty()) return report_end(job, copied);
  // Nothing below: it may be one object.
  if (!where.name.ends_with('/') && !job.options.syncs()) return download_one(job, where, target);
  job.report.failed(error(errc::not_found, "nothing is below it")
                        .with_scheme(where.scheme)
                        .with_bucket(where.bucket)
                        .with_object(where.name));
}

void upload_below(const copy_job& job, const source& from, const location& target) {
  const std::string& path = from.where.path;
  if (!from.many() && kind_of(path) != path_kind::folder) {
    if (!job.options.syncs()) return upload_one(job, from.where, target);
    const bool missing = kind_of(path) == path_kind::missing;
    return job.report.failed(missing ? file_error(path, ENOENT)
                                     : file_error(path, "is no folder; `cp` copies files"));
  }
  std::string prefix = target.name;
  const bool takes_in = !from.many() && !job.options.syncs();
  if (takes_in && (prefix.empty() || prefix.ends_with('/')) && !path.ends_with('/')) {
    prefix += last_component(path);
  }
  orphan_notice orphans(job);
  missing_names missing(from, folder_prefix(prefix));
  sent_files sent;
  auto request = request_for(job, target.bucket, false, missing, sent);
  request.path = path;
  request.prefix = prefix;
  request.select = selection_in(from, job.narrowed, job.options.recursive);
  request.observer = &orphans;
  const auto copied = dataflux::upload_folder(job.with.transfers, std::move(request));
  sent.remove(job, path);
  if (copied && !job.ended()) missing.report(job.report);
  const bool nothing = copied && copied->found == 0 && job.report.failures() == 0;
  if (nothing && (from.many() || job.options.select.narrows())) {
    return job.report.failed(nothing_matches(from, job.options.select));
  }
  report_end(job, copied);
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

/// Several files need a folder, which "x/" is meant to be.
result<void> make_target(const copy_job& job, const copy_ends& ends) {
  const location& target = ends.target;
  if (target.where != location::kind::file || ends.sources.size() == 1 ||
      job.only_tell != nullptr) {
    return {};
  }
  std::error_code failed;
  std::filesystem::create_directories(target.path, failed);
  if (failed) return file_error(target.path, failed.value());
  return {};
}

void copy_source(const copy_job& job, const source& from, const location& target) {
  const bool many = job.options.recursive || from.many();
  const location& where = from.where;
  if (where.is_object() && target.is_object()) {
    return many ? copy_below_between(job, from, target) : copy_one_between(job, where, target);
  }
  if (where.is_object()) {
    return many ? download_below(job, from, target) : download_one(job, where, target);
  }
  many&& where.where == location::kind::file ? upload_below(job, from, target)
                                             : upload_one(job, where, target);
}

}  // namespace

result<dataflux::object_attributes> attributes_of(const attribute_options& options) {
  dataflux::object_attributes out{.content_type = options.content_type,
                                  .cache_control = options.cache_control,
                                  .storage_class = options.storage_class,
                                  .kms_key_name = options.kms_key};
  for (const std::string& each : options.metadata) {
    const auto equals = each.find('=');
    if (equals == std::string::npos || equals == 0) {
      return error(errc::invalid_argument, "--metadata " + each + ": write KEY=VALUE");
    }
    out.metadata.emplace_back(each.substr(0, equals), each.substr(equals + 1));
  }
  return out;
}

exit_status run_mv(const session& with, const cp_options& options) {
  cp_options moving = options;
  moving.kind = copy_kind::mv;
  return run_cp(with, moving);
}

exit_status run_sync(const session& with, const cp_options& options) {
  cp_options syncing = options;
  syncing.kind = copy_kind::sync;
  syncing.recursive = true;
  return run_cp(with, syncing);
}

exit_status run_cp(const session& with, const cp_options& options) {
  auto ends = parse_ends(with, options);
  if (!ends) return fail(ends.error());
  if (auto good = check_target(with, ends->target); !good) return fail(good.error());
  auto narrowed = selection_of(options.select);
  if (!narrowed) return fail(narrowed.error());
  auto attributes = attributes_of(options.attributes);
  if (!attributes) return fail(attributes.error());
  if (!attributes->empty() && !ends->target.is_object()) {
    return fail(error(errc::invalid_argument,
                      "content types, metadata and the like are of objects, and TARGET is none"));
  }
  const location& target = ends->target;
  const bool down = ends->sources.front().where.is_object();
  dry_run plan;
  std::optional<progress> bar;
  if (!options.dry_run && with.speaks != voice::quiet) {
    bar.emplace(options.moves()              ? "moving"
                : down && target.is_object() ? "copying"
                : down                       ? "downloading"
                                             : "uploading",
                0, [totals = with.totals, down] {
                  if (totals == nullptr) return std::uint64_t{0};
                  return (down ? totals->bytes_received : totals->bytes_sent)
                      .load(std::memory_order_relaxed);
                });
  }
  outcome report(bar ? &*bar : nullptr, nullptr, with.speaks);
  const copy_job job{with,
                     options,
                     report,
                     options.dry_run ? &plan : nullptr,
                     *std::move(narrowed),
                     *std::move(attributes),
                     dataflux::timestamp(std::chrono::system_clock::now())};
  if (auto made = make_target(job, *ends); !made) return fail(made.error());
  for (const source& each : ends->sources) {
    if (!job.ended()) copy_source(job, each, target);
  }
  if (options.dry_run) {
    plan.finish(report);
  } else if (target.where != location::kind::stream) {
    report.tell_end(with.retries());
  }
  return report.status();
}

}  // namespace cli
