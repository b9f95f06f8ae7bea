#include "download.hpp"

#include <dataflux/download/download_file.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "location.hpp"

namespace cli {

using dataflux::got_item;
using dataflux::result;

namespace {

/// Objects of one stream, about a page of a listing, and streams at a time: so there is always one
/// that is not near its end.
constexpr std::size_t most_in_stream = 1000;
constexpr std::size_t most_streams = 3;
constexpr std::size_t most_large_downloads = 8;
/// Open for the files of a stream, so that few descriptors do for any tree.
constexpr std::size_t most_folders_in_stream = 64;
/// Of a stream, and what each takes at once: what they have is no part of the memory's cap.
constexpr int hands_of_stream = 4;
constexpr std::size_t items_at_once = 16;
constexpr std::uint64_t bytes_at_once = std::uint64_t{16} << 20U;

std::size_t share_of_hand(const std::vector<dataflux::get_request>& requests) {
  std::uint64_t largest = 1;
  for (const auto& one : requests) largest = std::max(largest, one.object_size.value_or(0));
  return std::clamp<std::size_t>(bytes_at_once / largest, 1, items_at_once);
}

void unverified(outcome& report, const std::string& shown) {
  report.note(shown + ": the service gave no checksum to compare with");
}

}  // namespace

/// Many objects that come whole, and as they come become files.
class small_files : public std::enable_shared_from_this<small_files> {
 public:
  small_files(downloads& from, std::vector<dataflux::get_request> requests,
              std::vector<file_place> places)
      : from_(from),
        places_(std::move(places)),
        at_once_(share_of_hand(requests)),
        items_(std::in_place, from.transfers_, from.bucket_, std::move(requests),
               dataflux::get_many_options{.order = dataflux::get_order::as_ready,
                                          .limits = {.stop = from.to_.stop}}) {}

  void start() {
    for (int i = 0; i < hands_of_stream; ++i) next();
  }

 private:
  void next() {
    std::scoped_lock lock(mutex_);
    items_->start_next_batch(
        at_once_, [self = shared_from_this()](result<std::vector<got_item>> got) {
          self->from_.to_.flow.on_file_thread(
              [self, got = std::move(got)]() mutable { self->arrived(std::move(got)); });
        });
  }

  void arrived(result<std::vector<got_item>> got) {
    if (!got) {
      from_.to_.report.failed(got.error());
    } else if (!got->empty()) {
      for (const got_item& item : *got) store(item);
      got->clear();  // its memory, before more comes
      return next();
    }
    {
      std::scoped_lock lock(mutex_);
      if (--hands_ > 0) return;
      items_.reset();  // no read is under way any more
    }
    from_.ended(from_.small_streams_);
  }

  void store(const got_item& item) {
    outcome& report = from_.to_.report;
    // The last of a folder's files closes it.
    const file_place place = std::move(places_[static_cast<std::size_t>(item.index)]);
    if (item.failure) return report.failed(*item.failure);
    if (const auto stored = write(item, place); !stored) return report.failed(stored.error());
    if (!item.verified) unverified(report, place.shown);
    report.done(item.bytes.size(), place.shown);
  }

  static result<void> write(const got_item& item, const file_place& place) {
    auto file = new_file::create(place.where, place.name);
    if (!file) return std::move(file).error();
    if (auto written = file->write(item.bytes); !written) return written;
    return file->publish();
  }

  downloads& from_;
  std::vector<file_place> places_;  ///< each for whoever stores its item
  const std::size_t at_once_;
  std::mutex mutex_{};
  std::optional<dataflux::getter> items_;
  int hands_{hands_of_stream};
};

downloads::~downloads() {
  if (!requests_.empty()) begin_small();
  std::unique_lock lock(mutex_);
  one_ended_.wait(lock, [this] { return small_streams_ == 0 && large_files_ == 0; });
}

void downloads::began(std::size_t& streams, std::size_t most) {
  std::unique_lock lock(mutex_);
  one_ended_.wait(lock, [&] { return streams < most; });
  ++streams;
}

void downloads::ended(std::size_t& streams) {
  std::scoped_lock lock(mutex_);
  --streams;
  one_ended_.notify_all();
}

void downloads::flush() {
  const bool idle = [this] {
    std::scoped_lock lock(mutex_);
    return small_streams_ < most_streams;
  }();
  if (idle && !requests_.empty()) begin_small();
}

void downloads::add(wanted_object object, file_place place) {
  const bool here =
      to_.go_on && place.where != nullptr && object.crc32c &&
      has_bytes(*place.where, place.name, links::refused, object.size, *object.crc32c);
  if (here) return to_.report.done(object.size);
  if (to_.only_tell != nullptr) {
    return to_.tell(shown_url(bucket_, object.name), place.shown, object.size);
  }
  if (object.size > transfers_.options().slice) return fetch_large(object, place);
  dataflux::get_request request;
  request.object = std::move(object.name);
  request.generation = object.generation;
  request.object_size = object.size;
  request.crc32c = object.crc32c;
  requests_.push_back(std::move(request));
  if (places_.empty() || places_.back().where != place.where) ++folders_;
  places_.push_back(std::move(place));
  if (requests_.size() == most_in_stream || folders_ == most_folders_in_stream) begin_small();
}

void downloads::begin_small() {
  began(small_streams_, most_streams);
  folders_ = 0;
  std::make_shared<small_files>(*this, std::exchange(requests_, {}), std::exchange(places_, {}))
      ->start();
}

void downloads::fetch_large(const wanted_object& object, const file_place& place) {
  if (!requests_.empty()) begin_small();  // they need not wait for it
  began(large_files_, most_large_downloads);
  dataflux::download_file_request request;
  request.bucket = bucket_;
  request.object = object.name;
  request.generation = object.generation;
  request.object_size = object.size;
  request.crc32c = object.crc32c;
  request.path = place.shown;
  request.folder = place.where->descriptor();
  request.resume = to_.go_on;
  request.flush = false;
  request.progress = [this](std::uint64_t bytes) { to_.report.moved(bytes); };
  request.limits.stop = to_.stop;
  dataflux::start_download_file(
      transfers_, std::move(request), [this, place](const result<dataflux::downloaded_file>& got) {
        if (!got) {
          to_.report.failed(got.error().object().empty() ? file_error(got.error()) : got.error());
        } else {
          if (!got->verified) unverified(to_.report, place.shown);
          to_.report.done(0, place.shown);
        }
        ended(large_files_);
      });
}

}  // namespace cli
