#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/transfer/remove_objects.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "copy_job.hpp"
#include "listing.hpp"
#include "stream_out.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::got_item;
using dataflux::object_columns;
using dataflux::object_metadata;
using dataflux::result;

namespace {

/// Copies at a time: each waits for the services most of the time.
constexpr std::size_t at_a_time = 16;
constexpr std::uint64_t part_size = std::uint64_t{16} << 20U;
constexpr std::uint64_t most_small_parts = 5000;

/// What both services know; storage classes and keys are each one's own. S3 has keys in lower case,
/// as it makes them itself.
dataflux::object_attributes carried(const object_metadata& from, std::string_view to) {
  auto metadata = from.metadata;
  for (auto& [key, value] : metadata) {
    for (char& c : key) {
      if (to == "s3" && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return {.content_type = from.content_type,
          .metadata = std::move(metadata),
          .content_encoding = from.content_encoding,
          .cache_control = from.cache_control,
          .content_disposition = from.content_disposition,
          .content_language = from.content_language};
}

/// Reads it slice by slice, compares the whole with the source's checksum before the end is sent,
/// and the writer compares what the target has.
result<void> through_here(const copy_job& job, const object_metadata& from,
                          const std::string& bucket, const std::string& name) {
  orphan_notice orphans(job);
  dataflux::upload_request request;
  request.bucket = bucket;
  request.object = name;
  request.attributes =
      job.attributes.empty() ? carried(from, job.target().scheme()) : job.attributes;
  request.attributes.kms_key_name = job.attributes.kms_key_name;
  request.if_generation_match =
      job.options.no_clobber ? std::optional<std::int64_t>(0) : job.options.if_generation;
  // A larger object gets parts that are as large as it needs.
  if (from.size <= part_size * most_small_parts) request.part_size = part_size;
  request.size_hint = from.size;
  request.observer = &orphans;
  request.limits.stop = job.with.stop;
  auto writer = dataflux::checkpoint_writer::open(job.target().transfers, std::move(request));
  if (!writer) return writer.error();
  bool compared = from.crc32c || from.size == 0;
  const auto copied =
      for_each_slice(job.with.transfers, from, {}, job.with.stop, [&](const got_item& got) {
        compared = compared || (got.verified && got.bytes.size() == from.size);
        job.report.moved(got.bytes.size());
        return writer->write(got.bytes);
      });
  if (!copied) {
    const auto aborted = writer->abort();
    return aborted ? copied : aborted;
  }
  const auto made = writer->commit();
  if (!made) return made.error();
  if (!compared) {
    job.report.note(shown_url(job.with.scheme(), from.bucket, from.name) +
                    ": compared with nothing at its source, which has no CRC32C of it");
  }
  return {};
}

/// The command line is right. What the source has does not fit the target, metadata most of all.
error unfit(const error& why, const copy_job& job, const object_metadata& from,
            const std::string& bucket, const std::string& name) {
  if (why.code() != errc::invalid_argument || why.http_status() != 0) return why;
  const char* const advice = from.metadata.empty()
                                 ? ""
                                 : "; change it at the source, or copy by way of a file here, "
                                   "which leaves metadata out";
  error out(errc::failed_precondition, why.message() + advice);
  out.with_scheme(job.target().scheme()).with_bucket(bucket).with_object(name);
  return out;
}

/// What the target has still, where that matters.
struct target_state {
  object_columns rows{};
  std::vector<bool> met{};
};

/// As far as two listings tell. Of S3 they have no CRC32C: then a minute is what clocks may differ.
bool is_same(const copy_job& job, const object_columns& from, std::size_t i,
             const object_columns& to, std::size_t j) {
  constexpr std::chrono::minutes clearly_later{1};
  const auto source = from[i];
  const auto target = to[j];
  if (source.size != target.size) return false;
  if (source.crc32c && target.crc32c) return source.crc32c == target.crc32c;
  if (job.options.by_checksum) return false;
  const auto written = from.extras(i).created;
  const auto copied = to.extras(j).created;
  return written && copied && *copied >= *written + clearly_later;
}

result<target_state> look_at_target(const copy_job& job, const location& target,
                                    const std::string& root) {
  target_state out;
  auto listed = dataflux::fast_list(
      job.target().store,
      request_of({.bucket = target.bucket, .prefix = root, .times = true, .stop = job.with.stop}));
  if (!listed) return std::move(listed).error();
  out.rows = std::move(listed->objects);
  out.met.resize(out.rows.size(), false);
  return out;
}

/// Which rows are to be copied: what is not is there all the same, and no extra name.
result<std::vector<bool>> wanted_of(const copy_job& job, const source& from,
                                    const object_columns& rows, std::size_t folder) {
  const auto selector =
      dataflux::name_selector::create(selection_in(from, job.narrowed, job.options.recursive));
  if (!selector) return selector.error();
  std::vector<bool> out;
  bool any = !from.names.empty();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows[i];
    out.push_back(selector->takes(row.name.substr(folder), row.size, rows.extras(i).created));
    any = any || out.back();
  }
  if (!any) return nothing_matches(from, job.options.select);
  return out;
}

/// What only the target has, when all else is done.
void remove_extra(const copy_job& job, const location& target, const std::string& root,
                  const target_state& there) {
  const auto selector = dataflux::name_selector::create(job.narrowed);
  if (!selector) return job.report.failed(selector.error());
  object_columns extra;
  for (std::size_t i = 0; i < there.rows.size(); ++i) {
    const auto row = there.rows[i];
    const auto below = row.name.substr(root.size());
    const bool marker = row.size == 0 && (below.empty() || below.ends_with('/'));
    if (there.met[i] || marker || dataflux::detail::is_reserved_name(row.name)) continue;
    if (!selector->takes(below, row.size, there.rows.extras(i).created)) continue;
    extra.append(row.name, row.size, row.generation, row.crc32c);
  }
  if (extra.empty()) return;
  const auto told = [&](const dataflux::removal_progress& at) {
    for (const auto& each : at.ended) {
      const std::string url = shown_url(target.scheme, target.bucket, each.name);
      if (each.failure) {
        job.report.failed(*each.failure);
      } else if (job.only_tell != nullptr) {
        job.only_tell->tell_removal(url, each.size);
      } else {
        job.report.done({.how = deed::removed, .target = url, .bytes = each.size});
      }
    }
  };
  const auto removed =
      dataflux::remove_objects(job.target().store, {.bucket = target.bucket,
                                                    .rows = std::move(extra),
                                                    .dry_run = job.only_tell != nullptr,
                                                    .progress = told,
                                                    .limits = {.stop = job.with.stop}});
  if (!removed) job.report.failed(removed.error());
}

/// All below one prefix, by several threads.
class prefix_copy {
 public:
  prefix_copy(const copy_job& job, const source& from, const location& target,
              const std::string& root, const object_columns& rows, std::vector<bool> wanted)
      : job_(job),
        where_(from.where),
        target_(target),
        root_(root),
        prefix_(prefix_of(from)),
        rows_(rows),
        wanted_(std::move(wanted)),
        missing_(from, prefix_) {}

  void run() {
    const auto& options = job_.options;
    if (options.syncs() || options.go_on || options.delete_extra) {
      auto there = look_at_target(job_, target_, root_);
      if (!there) return job_.report.failed(there.error());
      there_ = *std::move(there);
    }
    count();
    copy_all();
    if (job_.ended()) return;
    missing_.report(job_.report);
    if (!options.delete_extra) return;
    if (job_.report.failures() == 0) return remove_extra(job_, target_, root_, there_);
    job_.report.failed(error(errc::failed_precondition,
                             "nothing was removed: not everything could be copied, so that the "
                             "target may be all there is"));
  }

 private:
  void count() {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (wanted_[i]) bytes += rows_.object_size(i);
      missing_.met(rows_.name(i));
    }
    job_.report.expect(static_cast<std::uint64_t>(std::count(wanted_.begin(), wanted_.end(), true)),
                       bytes);
  }

  void copy_all() {
    std::atomic<std::size_t> next{0};
    const auto some = [&] {
      for (std::size_t i = next++; i < rows_.size() && !job_.ended(); i = next++) copy(i);
    };
    std::vector<std::jthread> others;
    const std::size_t more = job_.only_tell == nullptr ? std::min(rows_.size(), at_a_time) : 1;
    for (std::size_t i = 1; i < more; ++i) others.emplace_back(some);
    some();
  }

  void copy(std::size_t i) {
    const std::string name(rows_.name(i));
    const std::string to = root_ + name.substr(prefix_.size());
    const auto at = there_.rows.find(to);
    if (at) {
      const std::scoped_lock held(lock_);
      there_.met[*at] = true;
    }
    if (!wanted_[i]) return;
    const std::uint64_t size = rows_.object_size(i);
    const bool compares = job_.options.syncs() || job_.options.go_on;
    if (at && compares && is_same(job_, rows_, i, there_.rows, *at)) {
      return job_.report.done({.how = deed::kept,
                               .source = shown_url(where_.scheme, where_.bucket, name),
                               .target = shown_url(target_.scheme, target_.bucket, to),
                               .bytes = size},
                              size);
    }
    if (only_told(job_, where_, target_, name, to, size)) return;
    const auto known = job_.with.store.stat(
        {.bucket = where_.bucket, .object = name, .limits = {.stop = job_.with.stop}});
    if (!known) return job_.report.failed(known.error());
    copy_one_across(job_, *known, target_, to);
  }

  const copy_job& job_;
  const location& where_;
  const location& target_;
  const std::string& root_;
  const std::string prefix_;
  const object_columns& rows_;
  const std::vector<bool> wanted_;
  missing_names missing_;
  target_state there_{};
  std::mutex lock_{};  ///< of what has been met
};

}  // namespace

void copy_one_across(const copy_job& job, const object_metadata& from, const location& target,
                     const std::string& name) {
  const auto copied = through_here(job, from, target.bucket, name);
  const std::string url = shown_url(job.with.scheme(), from.bucket, from.name);
  const std::string to = shown_url(target.scheme, target.bucket, name);
  if (!copied && job.options.no_clobber && copied.error().http_status() == 412) {
    return job.report.done({.how = deed::kept, .source = url, .target = to, .bytes = from.size},
                           from.size);
  }
  if (!copied) return job.report.failed(unfit(copied.error(), job, from, target.bucket, name));
  if (job.options.moves() && !remove_received(job, from.bucket, from.name, from.generation)) return;
  job.report.done({.how = job.copied(), .source = url, .target = to, .bytes = from.size});
}

void copy_below_across(const copy_job& job, const source& from, const location& target,
                       const std::string& root) {
  const location& where = from.where;
  const auto found = find_objects(job.with, from, {}, job.options.recursive);
  const bool alone = !found && found.error().code() == errc::not_found && !from.many() &&
                     !job.options.syncs() && !job.options.select.narrows();
  if (alone && where.name.empty()) return;  // a bucket may be empty
  if (alone && !where.name.ends_with('/')) return copy_one_between(job, where, target);
  if (!found) return job.report.failed(found.error());
  auto wanted = wanted_of(job, from, *found, prefix_of(from).size());
  if (!wanted) return job.report.failed(wanted.error());
  prefix_copy(job, from, target, root, *found, *std::move(wanted)).run();
}

}  // namespace cli
