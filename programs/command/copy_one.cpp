#include <dataflux/checkpoint/upload_file.hpp>
#include <dataflux/download/download_file.hpp>
#include <dataflux/folder/copy_folder.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "copy_job.hpp"
#include "local_path.hpp"
#include "stream_out.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::object_metadata;
using dataflux::result;
using dataflux::transfer_context;
using dataflux::uploaded_file;
using dataflux::why_no_file_name;

namespace {

/// Up to here a file is sent in one request; above it goes in parallel parts of this size.
constexpr std::uint64_t usual_part_size = std::uint64_t{16} << 20U;

void report_end(const copy_job& job, const std::string& from, const std::string& to,
                const result<std::uint64_t>& ended) {
  if (!ended) return job.report.failed(ended.error());
  job.report.done({.source = from, .target = to, .bytes = *ended});
}

void to_stream(const copy_job& job, const object_metadata& object, int descriptor) {
  stream_out(job.with.transfers, object, {}, descriptor, job.report, job.with.stop);
}

/// A pipe or device is written to, never replaced.
void to_device(const copy_job& job, const object_metadata& object, const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return job.report.failed(file_error(path, errno));
  to_stream(job, object, descriptor);
  ::close(descriptor);
}

void to_file(const copy_job& job, const object_metadata& object, const std::string& path) {
  const bool go_on = job.options.go_on;
  const std::string url = shown_url(job.with.scheme(), object.bucket, object.name);
  const bool stays = job.options.no_clobber && kind_of(path) != path_kind::missing;
  if (stays ||
      (go_on && object.crc32c && has_bytes(path, links::refused, object.size, *object.crc32c))) {
    return job.report.done({.how = deed::kept, .source = url, .target = path, .bytes = object.size},
                           object.size);
  }
  if (job.only_tell != nullptr) {
    job.only_tell->tell(url, path, object.size);
    return job.report.done(0);
  }
  dataflux::download_file_request request;
  request.bucket = object.bucket;
  request.object = object.name;
  request.generation = object.generation;
  request.object_size = object.size;
  request.crc32c = object.crc32c;
  request.path = path;
  request.resume = go_on;
  // What is removed at its source must be on the disk.
  request.flush = job.options.moves();
  request.progress = [&job](std::uint64_t bytes) { job.report.moved(bytes); };
  request.limits.stop = job.with.stop;
  const auto got = dataflux::download_file(job.with.transfers, std::move(request));
  if (!got) return job.report.failed(file_error(got.error()));
  if (!got->verified) {
    job.report.note(path + ": compared with nothing, since the service has no CRC32C of it");
  }
  if (job.options.moves() && !remove_received(job, object.bucket, object.name, object.generation)) {
    return;
  }
  job.report.done({.how = job.copied(), .source = url, .target = path, .bytes = object.size});
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/// A folder that nobody may write to is copied from all the same.
bool journal_beside(const copy_job& job, const std::string& path) {
  if (!job.options.go_on) return false;
  const std::string above = folder_of(path);
  if (::faccessat(AT_FDCWD, above.c_str(), W_OK, AT_EACCESS) == 0) return true;
  job.report.note("no journal can be kept beside " + path + " (" +
                  std::generic_category().message(errno) +
                  "): if its copy breaks off it begins anew");
  return false;
}

result<uploaded_file> send(const copy_job& job, const dataflux::upload_file_request& request,
                           std::uint64_t size) {
  // A file so large that few of its parts fit the memory for uploads gets some of its own.
  const std::uint64_t needed = 4 * (size / job.with.store.traits().max_parts);
  const transfer_context& usual = job.with.transfers;
  if (needed <= usual.options().upload_memory) return dataflux::upload_file(usual, request);
  return dataflux::upload_file(transfer_context(usual.store(), {.upload_memory = needed}), request);
}

void from_file(const copy_job& job, const std::string& path, std::uint64_t size,
               const std::string& bucket, const std::string& name, bool anew) {
  orphan_notice orphans(job);
  dataflux::upload_file_request request;
  request.path = path;
  request.upload.bucket = bucket;
  request.upload.object = name;
  request.upload.attributes = job.attributes;
  if (job.attributes.content_type.empty()) {
    request.upload.attributes.content_type = std::string(dataflux::content_type_of(name));
  }
  request.upload.observer = &orphans;
  request.upload.limits.stop = job.with.stop;
  if (size / usual_part_size < job.with.store.traits().max_parts) {
    request.upload.part_size = usual_part_size;
  }
  request.resume = size > usual_part_size && journal_beside(job, path);
  request.progress = [&job](std::uint64_t bytes) { job.report.moved(bytes); };
  // Most targets have nothing yet: a small file then costs one request. What a later attempt meets
  // may have been written meanwhile.
  const std::optional<std::int64_t> asked =
      job.options.no_clobber ? std::optional<std::int64_t>(0) : job.options.if_generation;
  const bool at_once = anew && size <= usual_part_size && !asked;
  request.upload.if_generation_match = asked;
  if (at_once) request.upload.if_generation_match = 0;
  auto sent = send(job, request, size);
  if (at_once && !sent && sent.error().http_status() == 412 && sent.error().attempts() == 1) {
    request.upload.if_generation_match.reset();
    sent = send(job, request, size);
  }
  const std::string url = shown_url(job.with.scheme(), bucket, name);
  if (!sent && job.options.no_clobber && sent.error().http_status() == 412) {
    return job.report.done({.how = deed::kept, .source = path, .target = url, .bytes = size}, size);
  }
  if (!sent) return job.report.failed(file_error(sent.error()));
  if (!sent->made.fallback.empty()) {
    job.report.note("not uploaded in the safest way: " + sent->made.fallback);
  }
  if (job.options.moves() && !remove_sent(job, folder_of(path), path, size)) return;
  job.report.done({.how = job.copied(), .source = path, .target = url, .bytes = size});
}

void from_device(const copy_job& job, const std::string& path, const location& target,
                 const std::string& name) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return job.report.failed(file_error(path, errno));
  report_end(job, path, shown_url(target.scheme, target.bucket, name),
             upload_stream(job, descriptor, target.bucket, name));
  ::close(descriptor);
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void download_one(const copy_job& job, const location& source, const location& target) {
  const auto object = find_object(job.with.store, source, job.with.stop, "`cp -r` copies it");
  if (!object) return job.report.failed(object.error());
  job.report.expect(1, object->size);
  if (target.where == location::kind::stream) {
    if (job.only_tell == nullptr) return to_stream(job, *object, STDOUT_FILENO);
    job.only_tell->tell(source.to_string(), "-", object->size);
    return job.report.done(0);
  }
  std::string path = target.path;
  if (path.ends_with('/') || kind_of(path) == path_kind::folder) {
    const std::string leaf = last_component(object->name);
    if (object->name.ends_with('/') || !why_no_file_name(leaf).empty()) {
      return job.report.failed(
          file_error(shown_url(source.scheme, object->bucket, object->name),
                     std::string("not copied, its name can be no file's here: ") +
                         (leaf.empty() ? "it has no last part to be a file's name"
                                       : "it ends with '/', as a folder's")));
    }
    path = below(path, leaf);
  }
  if (kind_of(path) == path_kind::other && job.only_tell == nullptr) {
    return to_device(job, *object, path);
  }
  to_file(job, *object, path);
}

void upload_one(const copy_job& job, const location& source, const location& target) {
  std::string name = target.name;
  if (source.where == location::kind::stream) {
    if (name.empty() || name.ends_with('/')) {
      return job.report.failed(
          error(errc::invalid_argument,
                "give the whole name that standard input gets, not " + target.to_string()));
    }
    return report_end(job, "-", target.to_string(),
                      upload_stream(job, STDIN_FILENO, target.bucket, name));
  }
  const std::string& path = source.path;
  if (name.empty() || name.ends_with('/')) name += last_part(path);
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return job.report.failed(file_error(path, errno));
  if (S_ISDIR(facts.st_mode)) {
    return job.report.failed(file_error(path, "is a folder; `cp -r` copies folders"));
  }
  if (!S_ISREG(facts.st_mode)) return from_device(job, path, target, name);
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  bool anew = true;
  if (job.options.go_on) {
    const auto there = job.with.store.stat(
        {.bucket = target.bucket, .object = name, .limits = {.stop = job.with.stop}});
    if (!there && there.error().code() != errc::not_found) {
      return job.report.failed(there.error());
    }
    anew = !there;
    if (there && there->crc32c && there->size == size &&
        has_bytes(path, links::followed, size, *there->crc32c)) {
      job.report.expect(1, size);
      return job.report.done({.how = deed::kept,
                              .source = path,
                              .target = shown_url(target.scheme, target.bucket, name),
                              .bytes = size},
                             size);
    }
  }
  job.report.expect(1, size);
  if (job.only_tell != nullptr) {
    job.only_tell->tell(path, shown_url(target.scheme, target.bucket, name), size);
    return job.report.done(0);
  }
  from_file(job, path, size, target.bucket, name, anew);
}

}  // namespace cli
