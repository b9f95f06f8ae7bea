#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/list/fast_list.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
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
using dataflux::object_metadata;
using dataflux::result;

namespace {

/// Copies at a time: each waits for the service most of the time.
constexpr std::size_t at_a_time = 16;
constexpr std::uint64_t part_size = std::uint64_t{16} << 20U;
constexpr std::uint64_t most_small_parts = 5000;

const session& target_of(const copy_job& job) {
  return job.with.other == nullptr ? job.with : *job.with.other;
}

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

result<object_metadata> by_the_service(const copy_job& job, const object_metadata& from,
                                       const std::string& bucket, const std::string& name) {
  return job.with.store.run(dataflux::rewrite_request{.source_bucket = from.bucket,
                                                      .source = from.name,
                                                      .source_generation = from.generation,
                                                      .bucket = bucket,
                                                      .object = name,
                                                      .last_writer_wins = true,
                                                      .limits = {.stop = job.with.stop}});
}

/// Reads it slice by slice, compares the whole with the source's checksum before the end is sent,
/// and the writer compares what the target has.
result<void> through_here(const copy_job& job, const object_metadata& from,
                          const std::string& bucket, const std::string& name) {
  orphan_notice orphans(job);
  dataflux::upload_request request;
  request.bucket = bucket;
  request.object = name;
  request.attributes = carried(from, target_of(job).scheme());
  // A larger object gets parts that are as large as it needs.
  if (from.size <= part_size * most_small_parts) request.part_size = part_size;
  request.size_hint = from.size;
  request.observer = &orphans;
  request.limits.stop = job.with.stop;
  auto writer = dataflux::checkpoint_writer::open(target_of(job).transfers, std::move(request));
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
  out.with_scheme(target_of(job).scheme()).with_bucket(bucket).with_object(name);
  return out;
}

void copy(const copy_job& job, const object_metadata& from, const std::string& bucket,
          const std::string& name) {
  if (job.with.other != nullptr) {
    const auto copied = through_here(job, from, bucket, name);
    return copied ? job.report.done(0, name)
                  : job.report.failed(unfit(copied.error(), job, from, bucket, name));
  }
  const auto copied = by_the_service(job, from, bucket, name);
  copied ? job.report.done(copied->size, name) : job.report.failed(copied.error());
}

/// Tells it, where nothing is to be copied.
bool only_told(const copy_job& job, const location& source, const location& target,
               std::string_view name, const std::string& to, std::uint64_t size) {
  if (job.only_tell == nullptr) return false;
  job.only_tell->tell(shown_url(source.scheme, source.bucket, name),
                      shown_url(target.scheme, target.bucket, to), size);
  job.report.done(0);
  return true;
}

bool is_itself(const location& source, const location& target, std::string_view from,
               std::string_view to) {
  return source.scheme == target.scheme && source.bucket == target.bucket && from == to;
}

}  // namespace

void copy_one_between(const copy_job& job, const location& source, const location& target) {
  const auto from = find_object(job.with.store, source, job.with.stop);
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
  copy(job, *from, target.bucket, to);
}

void copy_below_between(const copy_job& job, const location& source, const location& target) {
  const std::string prefix = folder_prefix(source.name);
  std::string root = target.name;
  if ((root.empty() || root.ends_with('/')) && !source.name.ends_with('/')) {
    root += last_component(source.name);
  }
  root = folder_prefix(root);
  if (is_itself(source, target, prefix, root)) {
    return job.report.failed(
        error(errc::invalid_argument, source.to_string() + " would be copied onto itself"));
  }
  const auto listed = dataflux::fast_list(
      job.with.store,
      request_of({.bucket = source.bucket, .prefix = prefix, .stop = job.with.stop}));
  if (!listed) return job.report.failed(listed.error());
  const dataflux::object_columns& rows = listed->objects;
  if (rows.empty() && !source.name.empty()) {
    if (!source.name.ends_with('/')) return copy_one_between(job, source, target);
    return job.report.failed(error(errc::not_found, "nothing is below it")
                                 .with_scheme(source.scheme)
                                 .with_bucket(source.bucket)
                                 .with_object(source.name));
  }
  job.report.expect(rows.size(), listed->summary.bytes);
  std::atomic<std::size_t> next{0};
  const auto some = [&] {
    for (std::size_t i = next++; i < rows.size() && !job.ended(); i = next++) {
      const std::string from(rows.name(i));
      const std::string to = root + from.substr(prefix.size());
      if (only_told(job, source, target, from, to, rows.object_size(i))) continue;
      const auto known = job.with.store.stat(
          {.bucket = source.bucket, .object = from, .limits = {.stop = job.with.stop}});
      known ? copy(job, *known, target.bucket, to) : job.report.failed(known.error());
    }
  };
  std::vector<std::jthread> others;
  const std::size_t more = job.only_tell == nullptr ? std::min(rows.size(), at_a_time) : 1;
  for (std::size_t i = 1; i < more; ++i) others.emplace_back(some);
  some();
}

}  // namespace cli
