#include "upload.hpp"

#include <dataflux/codec/crc32c.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

#include "content_type.hpp"
#include "location.hpp"
#include "open_upload.hpp"
#include "upload_small.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::result;

namespace {

class large_upload : public std::enable_shared_from_this<large_upload> {
 public:
  large_upload(job& from, file_to_send file, int descriptor, const struct stat& facts)
      : from_(from),
        item_(from.flow.begin_item()),
        file_(std::move(file)),
        descriptor_(descriptor),
        modified_(facts.st_mtim),
        part_size_(part_size_for(file_.size)),
        parts_((file_.size + part_size_ - 1) / part_size_),
        left_(parts_.size()) {}
  large_upload(const large_upload&) = delete;
  large_upload& operator=(const large_upload&) = delete;
  ~large_upload() { ::close(descriptor_); }

  void start() {
    begin_upload(from_,
                 {.bucket = file_.bucket,
                  .object = file_.object,
                  .content_type = std::string(content_type_of(file_.object))},
                 system_now(), [self = shared_from_this()](auto made) {
                   if (!made) return self->from_.report.failed(made.error());
                   self->begun_ = std::move(*made);
                   for (std::size_t i = 0; i < self->parts_.size(); ++i) self->line_up(i);
                 });
  }

 private:
  struct piece {
    dataflux::budget_share share;
    dataflux::buffer memory{};
  };

  std::size_t length(std::size_t i) const noexcept {
    return static_cast<std::size_t>(std::min(part_size_, file_.size - i * part_size_));
  }

  void line_up(std::size_t i) {
    from_.flow.enqueue(length(i), [self = shared_from_this(), i](dataflux::budget_share share) {
      auto with = std::make_shared<piece>(piece{std::move(share)});
      self->from_.flow.on_file_thread([self, i, with] { self->send(i, with); });
    });
  }

  void send(std::size_t i, const std::shared_ptr<piece>& with) {
    if (broken_ || from_.ended()) return ended(error(errc::cancelled, "stopped"));
    with->memory = from_.memory.acquire(length(i));
    const auto bytes = with->memory.span().first(length(i));
    const auto read =
        read_exactly(descriptor_, bytes, i * part_size_, file_.where->shown(file_.name));
    if (!read) return ended(read);
    from_.store.start_upload_part({.bucket = file_.bucket,
                                   .object = file_.object,
                                   .upload_id = begun_.upload_id,
                                   .part_number = static_cast<std::uint32_t>(i + 1),
                                   .data = bytes,
                                   .limits = {.stop = from_.stop}},
                                  [self = shared_from_this(), i, with](auto part) {
                                    if (!part) return self->ended(std::move(part).error());
                                    self->parts_[i] = std::move(*part);
                                    self->from_.report.moved(self->length(i));
                                    self->ended({});
                                  });
  }

  /// One part ended; the last one ends the whole.
  void ended(const result<void>& part_outcome) {
    if (!part_outcome) {
      std::scoped_lock lock(mutex_);
      if (!failure_) failure_ = part_outcome.error();
      broken_ = true;
    }
    if (left_.fetch_sub(1) == 1) {
      from_.flow.on_file_thread([self = shared_from_this()] { self->finish(); });
    }
  }

  void finish() {
    struct stat now {};
    const bool same =
        ::fstat(descriptor_, &now) == 0 && static_cast<std::uint64_t>(now.st_size) == file_.size &&
        now.st_mtim.tv_sec == modified_.tv_sec && now.st_mtim.tv_nsec == modified_.tv_nsec;
    if (!failure_ && !same) {
      failure_ = file_error(file_.where->shown(file_.name), "it changed while it was read");
    }
    if (failure_) return abort();
    from_.store.start_multipart_complete({.bucket = file_.bucket,
                                          .object = file_.object,
                                          .upload_id = begun_.upload_id,
                                          .parts = parts_,
                                          .mark = begun_.mark,
                                          .limits = {.stop = from_.stop}},
                                         [self = shared_from_this()](auto made) {
                                           if (made) return self->from_.report.done(0);
                                           self->failure_ = made.error();
                                           self->abort();
                                         });
  }

  /// Unfinished uploads are billed for ever: not even an interrupted run leaves one.
  void abort() {
    abort_upload(from_, file_.bucket, file_.object, begun_.upload_id,
                 [self = shared_from_this()] { self->from_.report.failed(*self->failure_); });
  }

  job& from_;
  const pipeline::item item_;
  const file_to_send file_;
  const int descriptor_;
  const ::timespec modified_;
  const std::uint64_t part_size_;
  std::vector<dataflux::uploaded_part> parts_;
  std::atomic<std::size_t> left_;
  dataflux::multipart_upload begun_{};
  std::atomic<bool> broken_{false};
  std::mutex mutex_{};
  std::optional<error> failure_{};
};

}  // namespace

std::uint64_t part_size_for(std::uint64_t size) noexcept {
  constexpr std::uint64_t most_parts = 10'000;
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
  const std::uint64_t least = (size + most_parts - 1) / most_parts;
  return std::max(16 * mebibyte, (least + mebibyte - 1) / mebibyte * mebibyte);
}

std::uint64_t stream_part_size(std::uint32_t number) noexcept {
  const unsigned doublings = number <= 1000 ? 0 : number <= 2000 ? 1 : 2;
  return std::uint64_t{16} << (20U + doublings);
}

void upload(job& from, file_to_send file) {
  if (from.only_tell != nullptr) {
    return from.tell(file.where->shown(file.name), shown_url(file.bucket, file.object), file.size);
  }
  if (file.size <= whole_object_limit) return upload_small(from, std::move(file));
  const auto descriptor = open_to_send(file);
  if (!descriptor) return from.report.failed(descriptor.error());
  struct stat facts {};
  if (::fstat(*descriptor, &facts) != 0) {
    from.report.failed(file_error(file.where->shown(file.name), errno));
    ::close(*descriptor);
    return;
  }
  // Holds back the walk while large files are in the line: each has its descriptor open.
  from.flow.admit(0, [](const dataflux::budget_share&) {});
  std::make_shared<large_upload>(from, std::move(file), *descriptor, facts)->start();
}

}  // namespace cli
