#include "download.hpp"

#include <dataflux/byte_sink.hpp>
#include <dataflux/codec/crc32c.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace cli {

using dataflux::byte_range;
using dataflux::errc;
using dataflux::error;
using dataflux::result;

namespace {

/// An object of one request.
class small_download : public std::enable_shared_from_this<small_download> {
 public:
  small_download(job& to, const wanted_object& object, folder_ptr where, std::string name)
      : to_(to),
        item_(to.flow.begin_item()),
        request_{.bucket = object.bucket,
                 .object = object.name,
                 .generation = object.generation,
                 .limits = {.stop = to.stop}},
        where_(std::move(where)),
        name_(std::move(name)),
        size_(static_cast<std::size_t>(object.size)) {}

  void start() {
    to_.flow.admit(size_, [self = shared_from_this()](dataflux::budget_share share) {
      self->share_ = std::move(share);
      self->read();
    });
  }

 private:
  void read() {
    if (to_.ended()) return to_.report.failed(error(errc::cancelled, "stopped"));
    memory_ = to_.memory.acquire(std::max<std::size_t>(size_, 1));
    sink_.emplace(memory_.span().first(size_));
    to_.store.start_read(request_, *sink_, [self = shared_from_this()](auto got) {
      if (!got) return self->to_.report.failed(got.error());
      self->verified_ = got->verified;
      self->to_.flow.on_file_thread([self] { self->finish(); });
    });
  }

  void finish() {
    if (const auto stored = store(); !stored) return to_.report.failed(stored.error());
    if (!verified_) {
      to_.report.note(where_->shown(name_) + ": the service gave no checksum to compare with");
    }
    to_.report.done(size_);
  }

  result<void> store() {
    if (sink_->size() != size_) {
      return error(errc::data_loss, "the object has another size than its listing says")
          .with_bucket(request_.bucket)
          .with_object(request_.object);
    }
    auto file = new_file::create(where_, name_);
    if (!file) return std::move(file).error();
    if (auto written = file->write(sink_->filled(), 0); !written) return written;
    return file->publish();
  }

  job& to_;
  const pipeline::item item_;
  const dataflux::read_request request_;
  const folder_ptr where_;
  const std::string name_;
  const std::size_t size_;
  dataflux::budget_share share_{};
  dataflux::buffer memory_{};
  std::optional<dataflux::span_sink> sink_{};
  bool verified_{false};
};

/// An object of many requests.
class large_download : public std::enable_shared_from_this<large_download> {
 public:
  large_download(job& to, wanted_object object, new_file file)
      : to_(to),
        item_(to.flow.begin_item()),
        object_(std::move(object)),
        file_(std::move(file)),
        crcs_((object_.size + range_size - 1) / range_size),
        left_(crcs_.size()) {}

  void start() {
    for (std::size_t i = 0; i < crcs_.size(); ++i) {
      to_.flow.admit(length(i), [self = shared_from_this(), i](dataflux::budget_share share) {
        self->read(i, std::move(share));
      });
    }
  }

 private:
  struct piece {
    dataflux::budget_share share;
    dataflux::buffer memory;
    dataflux::span_sink sink;
    piece(dataflux::budget_share taken, dataflux::buffer bytes, std::size_t size)
        : share(std::move(taken)), memory(std::move(bytes)), sink(memory.span().first(size)) {}
  };

  std::size_t length(std::size_t i) const noexcept {
    return static_cast<std::size_t>(std::min(range_size, object_.size - i * range_size));
  }

  void read(std::size_t i, dataflux::budget_share share) {
    if (broken_ || to_.ended()) return ended(error(errc::cancelled, "stopped"));
    const auto into =
        std::make_shared<piece>(std::move(share), to_.memory.acquire(length(i)), length(i));
    to_.store.start_read(
        {.bucket = object_.bucket,
         .object = object_.name,
         .range = byte_range::span(i * range_size, length(i)),
         .generation = object_.generation,
         .limits = {.stop = to_.stop}},
        into->sink, [self = shared_from_this(), i, into](auto got) {
          if (!got) return self->ended(std::move(got).error());
          self->crcs_[i] = got->crc32c;
          self->to_.flow.on_file_thread([self, i, into] { self->write(i, *into); });
        });
  }

  void write(std::size_t i, const piece& from) {
    if (broken_) return ended(error(errc::cancelled, "stopped"));
    if (from.sink.size() != length(i)) {
      return ended(error(errc::data_loss, "a range came short")
                       .with_bucket(object_.bucket)
                       .with_object(object_.name));
    }
    auto written = file_.write(from.sink.filled(), i * range_size);
    if (!written) return ended(written.error());
    to_.report.moved(length(i));
    ended({});
  }

  /// One piece ended; the last one ends the whole.
  void ended(const result<void>& piece_outcome) {
    if (!piece_outcome) {
      std::scoped_lock lock(mutex_);
      if (!failure_) failure_ = piece_outcome.error();
      broken_ = true;
    }
    if (left_.fetch_sub(1) != 1) return;
    to_.flow.on_file_thread([self = shared_from_this()] { self->finish(); });
  }

  void finish() {
    if (failure_) return to_.report.failed(*failure_);
    std::uint32_t whole = 0;
    for (std::size_t i = 0; i < crcs_.size(); ++i) {
      whole = dataflux::codec::crc32c_combine(whole, crcs_[i], length(i));
    }
    if (object_.crc32c && *object_.crc32c != whole) {
      return to_.report.failed(error(errc::data_loss, "the bytes differ from the object's CRC32C")
                                   .with_bucket(object_.bucket)
                                   .with_object(object_.name));
    }
    if (auto published = file_.publish(); !published) return to_.report.failed(published.error());
    if (!object_.crc32c) {
      to_.report.note(file_.shown() + ": the service gave no checksum to compare with");
    }
    to_.report.done(0);
  }

  job& to_;
  const pipeline::item item_;
  const wanted_object object_;
  new_file file_;
  std::vector<std::uint32_t> crcs_;
  std::atomic<std::size_t> left_;
  std::atomic<bool> broken_{false};
  std::mutex mutex_{};
  std::optional<error> failure_{};
};

}  // namespace

void download(job& to, const wanted_object& object, folder_ptr where, std::string name) {
  if (object.size <= whole_object_limit) {
    return std::make_shared<small_download>(to, object, std::move(where), std::move(name))->start();
  }
  auto file = new_file::create(std::move(where), std::move(name));
  if (!file) return to.report.failed(file.error());
  std::make_shared<large_download>(to, object, std::move(*file))->start();
}

}  // namespace cli
