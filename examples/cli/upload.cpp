#include "upload.hpp"

#include <dataflux/checkpoint/upload_file.hpp>
#include <dataflux/transfer/part_plan.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "content_type.hpp"
#include "location.hpp"
#include "upload_small.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::result;
using dataflux::transfer_context;
using dataflux::uploaded_file;

namespace {

constexpr std::size_t most_large_uploads = 8;

/// A file so large that two of its parts are more than the memory for uploads gets some of its own.
transfer_context context_for(std::uint64_t size, const transfer_context& usual) {
  const std::uint64_t parts = usual.store().traits().max_parts;
  const std::uint64_t least = (size / parts / dataflux::part_quantum + 1) * dataflux::part_quantum;
  if (2 * least <= usual.options().upload_memory) return usual;
  return transfer_context(usual.store(), {.upload_memory = 2 * least});
}

bool is_there(const file_to_send& file) {
  return file.there && has_bytes(*file.where, file.name, links::followed, file.size, *file.there);
}

}  // namespace

file_uploads::~file_uploads() {
  std::unique_lock lock(mutex_);
  one_ended_.wait(lock, [this] { return large_files_ == 0; });
}

void file_uploads::add(file_to_send file) {
  if (from_.only_tell != nullptr) {
    if (is_there(file)) return from_.report.done(file.size);
    return from_.tell(file.where->shown(file.name), shown_url(file.bucket, file.object), file.size);
  }
  if (file.size <= whole_object_limit) return upload_small(from_, std::move(file));
  send_large(std::move(file));
}

/// A folder that nobody may write to is copied all the same.
bool file_uploads::journal_beside(const file_to_send& file) {
  if (!from_.go_on) return false;
  if (::faccessat(file.where->descriptor(), ".", W_OK, AT_EACCESS) == 0) return true;
  if (!told_of_journal_.exchange(true)) {
    from_.report.note("no journal can be kept beside " + file.where->shown(file.name) + " (" +
                      std::generic_category().message(errno) +
                      "): if its copy breaks off it begins anew");
  }
  return false;
}

void file_uploads::send_large(file_to_send file) {
  {
    std::unique_lock lock(mutex_);
    one_ended_.wait(lock, [this] { return large_files_ < most_large_uploads; });
    ++large_files_;
  }
  if (!file.there) return begin_large(file);
  from_.flow.on_file_thread([this, file = std::move(file)] {
    if (!from_.ended() && !is_there(file)) return begin_large(file);
    if (from_.ended()) {
      from_.report.failed(error(errc::cancelled, "stopped"));
    } else {
      from_.report.done(file.size, file.object);
    }
    large_ended();
  });
}

void file_uploads::large_ended() {
  std::scoped_lock lock(mutex_);
  --large_files_;
  one_ended_.notify_all();
}

void file_uploads::begin_large(const file_to_send& file) {
  const transfer_context context = context_for(file.size, transfers_);
  dataflux::upload_file_request request;
  request.path = file.where->shown(file.name);
  request.folder = file.where->descriptor();
  request.upload.bucket = file.bucket;
  request.upload.object = file.object;
  request.upload.content_type = std::string(content_type_of(file.object));
  request.upload.watcher = &strays_;
  request.upload.limits.stop = from_.stop;
  if (file.size / usual_part_size < context.store().traits().max_parts) {
    request.upload.part_size = usual_part_size;
  }
  request.resume = journal_beside(file);
  request.progress = [this](std::uint64_t bytes) { from_.report.moved(bytes); };
  dataflux::start_upload_file(
      context, std::move(request), [this, file](const result<uploaded_file>& sent) {
        outcome& report = from_.report;
        if (!sent) {
          report.failed(sent.error().object().empty() ? file_error(sent.error()) : sent.error());
        } else {
          const std::string& why = sent->made.fallback;
          if (!why.empty() && !told_of_fallback_.exchange(true)) {
            report.note("not uploaded in the safest way: " + why);
          }
          report.done(0, file.object);
        }
        large_ended();
      });
}

}  // namespace cli
