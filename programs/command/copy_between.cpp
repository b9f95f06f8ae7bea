#include <dataflux/folder/copy_objects.hpp>
#include <dataflux/store/change_requests.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "copy_job.hpp"

namespace cli {

using dataflux::copy_outcome;
using dataflux::errc;
using dataflux::error;
using dataflux::object_metadata;
using dataflux::result;

namespace {

dataflux::preconditions conditions_of(const copy_job& job) {
  if (job.options.no_clobber) return {.if_generation_match = 0};
  return {.if_generation_match = job.options.if_generation};
}

/// By the service: a rename, where it has that and all stays in one bucket. False: it is copied,
/// and why its source is still there has been reported.
result<bool> by_the_service(const copy_job& job, const object_metadata& from,
                            const std::string& bucket, const std::string& name) {
  const bool renames = job.options.moves() && from.bucket == bucket &&
                       job.with.store.traits().moves && job.attributes.empty();
  const auto made =
      renames ? job.with.store.run(dataflux::move_request{
                    .bucket = bucket,
                    .source = from.name,
                    .object = name,
                    .source_conditions = {.if_generation_match = from.generation},
                    .conditions = conditions_of(job),
                    .crc32c = from.crc32c,
                    .last_writer_wins = true,
                    .limits = {.stop = job.with.stop}})
              : job.with.store.run(dataflux::rewrite_request{.source_bucket = from.bucket,
                                                             .source = from.name,
                                                             .source_generation = from.generation,
                                                             .bucket = bucket,
                                                             .object = name,
                                                             .attributes = job.attributes,
                                                             .conditions = conditions_of(job),
                                                             .last_writer_wins = true,
                                                             .limits = {.stop = job.with.stop}});
  if (!made) return made.error();
  if (!job.options.moves() || renames) return true;
  return remove_received(job, from.bucket, from.name, from.generation);
}

void copy(const copy_job& job, const object_metadata& from, const location& target,
          const std::string& name) {
  if (job.with.other != nullptr) return copy_one_across(job, from, target, name);
  const auto copied = by_the_service(job, from, target.bucket, name);
  const bool kept = !copied && job.options.no_clobber && copied.error().http_status() == 412;
  if (!copied && !kept) return job.report.failed(copied.error());
  if (copied && !*copied) return;
  job.report.done({.how = kept ? deed::kept : job.copied(),
                   .source = shown_url(job.with.scheme(), from.bucket, from.name),
                   .target = shown_url(target.scheme, target.bucket, name),
                   .bytes = from.size},
                  from.size);
}

dataflux::timestamp time_of(const timespec& time) {
  return dataflux::timestamp(std::chrono::seconds(time.tv_sec) +
                             std::chrono::nanoseconds(time.tv_nsec));
}

/// A file's name, and the folder that has it.
class file_place {
 public:
  file_place(const std::string& root, std::string_view path) {
    if (path.starts_with(root)) path.remove_prefix(root.size());
    folder_ = ::open(root.empty() ? "." : root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (path.starts_with('/')) path.remove_prefix(1);
    for (auto slash = path.find('/'); folder_ >= 0 && slash != std::string_view::npos;
         slash = path.find('/')) {
      const std::string step(path.substr(0, slash));
      const int next =
          ::openat(folder_, step.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      const int why = errno;
      ::close(std::exchange(folder_, next));
      errno = why;
      path.remove_prefix(slash + 1);
      while (path.starts_with('/')) path.remove_prefix(1);
    }
    name_ = path;
  }
  file_place(const file_place&) = delete;
  file_place& operator=(const file_place&) = delete;
  ~file_place() {
    if (folder_ >= 0) ::close(folder_);
  }
  int folder() const noexcept { return folder_; }
  const std::string& name() const noexcept { return name_; }

 private:
  int folder_{-1};
  std::string name_{};
};

bool is_itself(const location& source, const location& target, std::string_view from,
               std::string_view to) {
  return source.scheme == target.scheme && source.bucket == target.bucket && from == to;
}

}  // namespace

bool only_told(const copy_job& job, const location& source, const location& target,
               std::string_view name, const std::string& to, std::uint64_t size) {
  if (job.only_tell == nullptr) return false;
  job.only_tell->tell(shown_url(source.scheme, source.bucket, name),
                      shown_url(target.scheme, target.bucket, to), size);
  job.report.done(0);
  return true;
}

bool remove_sent(const copy_job& job, const std::string& root, const std::string& path,
                 std::uint64_t size) {
  const file_place at(root, path);
  struct stat facts {};
  const bool there = at.folder() >= 0 &&
                     ::fstatat(at.folder(), at.name().c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
  if (!there) return job.report.failed(file_error(path, errno)), false;
  const bool same = S_ISLNK(facts.st_mode) ||
                    (S_ISREG(facts.st_mode) && static_cast<std::uint64_t>(facts.st_size) == size);
  // The time of its last change tells of another file with its name, too.
  if (!same || time_of(facts.st_mtim) > job.started || time_of(facts.st_ctim) > job.started) {
    job.report.failed(file_error(path, "was copied, and changed meanwhile: it is still here"));
    return false;
  }
  if (::unlinkat(at.folder(), at.name().c_str(), 0) == 0) return true;
  job.report.failed(file_error(path, errno));
  return false;
}

bool remove_received(const copy_job& job, const std::string& bucket, const std::string& name,
                     std::int64_t generation) {
  const auto removed =
      job.with.store.run(dataflux::remove_request{.bucket = bucket,
                                                  .object = name,
                                                  .conditions = {.if_generation_match = generation},
                                                  .limits = {.stop = job.with.stop}});
  if (removed || removed.error().code() == errc::not_found) return true;
  job.report.failed(removed.error());
  return false;
}

void copy_one_between(const copy_job& job, const location& source, const location& target) {
  const auto from = find_object(job.with.store, source, job.with.stop, "`cp -r` copies it");
  if (!from) return job.report.failed(from.error());
  std::string to = target.name;
  if (to.empty() || to.ends_with('/')) to += last_component(from->name);
  if (to.empty() || to.ends_with('/')) {
    return job.report.failed(
        error(errc::invalid_argument, "give the name that it gets, not " + target.to_string()));
  }
  // Of a generation that is named another one is made: so an older state comes back.
  if (source.generation() == 0 && is_itself(source, target, from->name, to)) {
    return job.report.failed(
        error(errc::invalid_argument, source.to_string() + " would be copied onto itself"));
  }
  job.report.expect(1, from->size);
  if (only_told(job, source, target, from->name, to, from->size)) return;
  copy(job, *from, target, to);
}

namespace {

void tell(const copy_job& job, const location& source, const location& target,
          const dataflux::copy_item& item) {
  if (item.failure != nullptr) return job.report.failed(*item.failure);
  const std::string to = shown_url(target.scheme, target.bucket, item.object);
  const bool removed = item.outcome == copy_outcome::removed;
  if (job.only_tell != nullptr) {
    job.report.done(0);
    if (removed) return job.only_tell->tell_removal(to, item.bytes);
    if (item.outcome != copy_outcome::copied) return;
    const std::string from = shown_url(source.scheme, source.bucket, item.path);
    return job.only_tell->tell(from, to, item.bytes);
  }
  if (removed) {
    return job.report.done({.how = deed::removed, .target = to, .bytes = item.bytes});
  }
  const std::string from = shown_url(source.scheme, source.bucket, item.path);
  job.report.done({.how = item.outcome == copy_outcome::copied ? job.copied() : deed::kept,
                   .source = from,
                   .target = to,
                   .bytes = item.bytes});
}

void copy_below_within(const copy_job& job, const source& from, const location& target,
                       const std::string& prefix, const std::string& root) {
  missing_names missing(from, prefix);
  dataflux::copy_objects_request wanted;
  wanted.source_bucket = from.where.bucket;
  wanted.source_prefix = prefix;
  wanted.bucket = target.bucket;
  wanted.prefix = root;
  wanted.select = selection_in(from, job.narrowed, job.options.recursive);
  wanted.rows = from.rows;
  wanted.only_changed = job.options.syncs() || job.options.go_on;
  wanted.no_clobber = job.options.no_clobber;
  wanted.move = job.options.moves();
  wanted.dry_run = job.options.dry_run;
  wanted.delete_extra = job.options.delete_extra;
  wanted.attributes = job.attributes;
  wanted.max_failures = 1;  // each is told
  wanted.item = [&](const dataflux::copy_item& item) {
    missing.met(item.path);
    tell(job, from.where, target, item);
  };
  wanted.found = [&](std::uint64_t objects, std::uint64_t bytes) {
    job.report.expect(objects, bytes);
  };
  wanted.progress = [&](std::uint64_t bytes) { job.report.moved(bytes); };
  wanted.limits.stop = job.with.stop;
  const auto done = dataflux::copy_objects(job.with.transfers, std::move(wanted));
  if (!done) return job.report.failed(done.error());
  if (!job.ended()) missing.report(job.report);
  if (!done->not_removed.empty() && done->found > 0) {
    job.report.failed(
        error(errc::failed_precondition, "nothing was removed: " + done->not_removed));
  }
  if (done->found > 0 || !from.names.empty()) return;
  const bool all = !from.many() && !job.options.select.narrows();
  if (all && !from.where.name.empty() && !from.where.name.ends_with('/') && !job.options.syncs()) {
    return copy_one_between(job, from.where, target);
  }
  if (all && from.where.name.empty() && !job.options.delete_extra) return;  // it may be empty
  job.report.failed(nothing_matches(from, job.options.select));
}

}  // namespace

void copy_below_between(const copy_job& job, const source& from, const location& target) {
  const location& where = from.where;
  const std::string prefix = prefix_of(from);
  std::string root = target.name;
  const bool takes_in = root.empty() || root.ends_with('/');
  if (!from.many() && !job.options.syncs() && takes_in && !where.name.ends_with('/')) {
    root += last_component(where.name);
  }
  root = folder_prefix(root);
  if (is_itself(where, target, prefix, root)) {
    return job.report.failed(
        error(errc::invalid_argument, from.text + " would be copied onto itself"));
  }
  job.with.other == nullptr ? copy_below_within(job, from, target, prefix, root)
                            : copy_below_across(job, from, target, root);
}

}  // namespace cli
