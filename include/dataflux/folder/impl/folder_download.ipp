#pragma once

#include <dataflux/folder/detail/folder_download.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Objects of one stream, about a page of a listing, and streams at a time: so there is always one
/// that is not near its end.
inline constexpr std::size_t most_in_stream = 1000;
inline constexpr std::size_t most_streams = 3;
inline constexpr std::size_t most_large_downloads = 8;
/// Open for the files of a stream, so that few descriptors do for any tree.
inline constexpr std::size_t most_folders_in_stream = 56;
/// The most that one step on a thread for files does.
inline constexpr std::size_t placed_a_step = 256;
inline constexpr std::size_t folders_placed_a_step = 16;
inline constexpr std::uint64_t bytes_compared_a_step = std::uint64_t{8} << 20U;

DATAFLUX_INLINE void folder_download::open() {
  const auto& rows = request().rows;
  if (rows == nullptr) {
    names_.emplace(*this);
  } else {
    names_.emplace(*this, rows->slice(0, rows->size()));
  }
}

DATAFLUX_INLINE bool folder_download::turn() {
  if (stopped() || !names_) return true;
  while (dispatch()) {
  }
  // A failure that ends the call may have been told, with names behind it that were placed already.
  if (stopped()) return true;
  if (!placing_ && placed_.empty()) {
    if (row_ == rows_.size()) take_page();
    if (row_ < rows_.size()) place();
  }
  if (placing_ || !placed_.empty() || row_ < rows_.size() || !names_->ended()) return false;
  if (!small_.empty() && streams_ < most_streams) begin_stream();
  if (names_->failure()) give_up(*names_->failure());
  return small_.empty();
}

DATAFLUX_INLINE void folder_download::take_page() {
  // More names may come late: the collected ones begin, unless enough is under way.
  if (!small_.empty() && streams_ < most_streams) begin_stream();
  if (!names_->ready()) return;
  // A page of which nothing is selected brings no step that would go on.
  do {
    rows_ = selected_of(names_->take_page());
  } while (rows_.empty() && names_->ready());
  row_ = 0;
  std::uint64_t bytes = 0;
  for (const object_row row : rows_) bytes += row.size;
  expect(rows_.size(), bytes);
}

DATAFLUX_INLINE object_columns folder_download::selected_of(object_columns page) const {
  if (selected().takes_all()) return page;
  object_columns kept(page.kept());
  for (auto at = page.begin(); at != page.end(); ++at) {
    const object_row row = *at;
    const auto below = row.name.substr(request().prefix.size());
    if (selected().takes(below, row.size, at.extras().created)) kept.append(row, at.extras());
  }
  return kept;
}

DATAFLUX_INLINE void folder_download::place() {
  placing_ = true;
  on_file_thread([this] { place_some(); }, [this] { placed(); });
}

/// In a dry run no folder is made, and there may be none.
DATAFLUX_INLINE bool folder_download::open_root() {
  const std::string& path = request().path;
  const bool make = !request().dry_run;
  const auto made = make ? make_folders(path) : result<void>();
  auto root = made ? folder_handle::open(path) : result<folder_ptr>(made.error());
  if (!root && !make && root.error().code() == errc::not_found) root = folder_ptr();
  if (!root) {
    root_failure_ = root.error();
    return false;
  }
  root_ = *root;
  tree_.emplace(root_, make);
  return true;
}

DATAFLUX_INLINE void folder_download::place_some() {
  if (stopped() || (!tree_ && !open_root())) return;
  std::size_t folders = 0;
  std::uint64_t left = bytes_compared_a_step;
  while (row_ < rows_.size() && just_placed_.size() < placed_a_step &&
         folders < folders_placed_a_step && left > 0 && !stopped()) {
    if (!comparing_) comparing_ = place_one(rows_[row_], rows_.extras(row_).created);
    if (comparison_) {
      const std::uint64_t before = comparison_->read_so_far();
      const bool more = comparison_->read(left);
      left -= std::min(left, comparison_->read_so_far() - before);
      if (more) return;
      if (comparison_->same()) comparing_->outcome = copy_outcome::already_there;
      comparison_.reset();
    }
    if (just_placed_.empty() || just_placed_.back().where != comparing_->where) ++folders;
    just_placed_.push_back(*std::exchange(comparing_, std::nullopt));
    ++row_;
  }
}

/// What is there stays, without being read.
DATAFLUX_INLINE bool folder_download::is_kept(const placed_object& one,
                                              const std::optional<timestamp>& written) const {
  if (!request().no_clobber && !request().by_time) return false;
  struct stat facts {};
  if (::fstatat(one.where->descriptor(), one.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    return false;
  }
  if (request().no_clobber) return true;
  if (!S_ISREG(facts.st_mode) || static_cast<std::uint64_t>(facts.st_size) != one.size)
    return false;
  return written && written_at(facts) >= *written + clearly_later;
}

DATAFLUX_INLINE folder_download::placed_object folder_download::place_one(
    const object_row& row, const std::optional<timestamp>& written) {
  placed_object one{.object = std::string(row.name),
                    .size = row.size,
                    .generation = row.generation,
                    .crc32c = row.crc32c};
  const auto failed = [&](error why) {
    one.outcome = copy_outcome::failed;
    one.failure = std::move(why);
    return std::move(one);
  };
  std::string_view rest = std::string_view(row.name).substr(request().prefix.size());
  // An empty object "x/" is how consoles make a folder x.
  const bool marker = row.size == 0 && (rest.empty() || rest.ends_with('/'));
  if (marker) one.outcome = copy_outcome::folder;
  if (marker && rest.empty()) return one;
  if (marker) rest.remove_suffix(1);
  if (const auto why = why_no_file_name(rest); !why.empty()) {
    return failed(error(errc::failed_precondition,
                        std::string(store().traits().scheme) + "://" + request().bucket + "/" +
                            one.object +
                            ": not copied, its name can be no file's here: " + std::string(why)));
  }
  one.shown = path_below(request().path, rest);
  auto path = parts_of_name(rest);
  one.name = path.back();
  if (!marker) path.pop_back();
  auto where = tree_->reach(path);
  if (!where) return failed(std::move(where).error());
  if (marker) return one;
  one.where = std::move(*where);
  if (one.where != nullptr && is_kept(one, written)) {
    one.outcome = copy_outcome::already_there;
    return one;
  }
  if (request().resume && one.where != nullptr && one.crc32c) {
    comparison_.emplace(*one.where, one.name, links::refused, one.size, *one.crc32c);
  }
  return one;
}

DATAFLUX_INLINE void folder_download::placed() {
  placing_ = false;
  if (root_failure_) return fail(*root_failure_);
  for (placed_object& one : just_placed_) placed_.push_back(std::move(one));
  just_placed_.clear();
}

/// The next of what has been placed. False: there is none, or no room for it.
DATAFLUX_INLINE bool folder_download::dispatch() {
  if (placed_.empty() || stopped()) return false;
  placed_object& one = placed_.front();
  const bool large = one.size > context().options().slice;
  const bool copy = one.outcome == copy_outcome::copied && !request().dry_run;
  if (copy && large && large_ == most_large_downloads) return false;
  if (copy && !large &&
      (small_.size() == most_in_stream || small_folders_ >= most_folders_in_stream)) {
    if (streams_ == most_streams) return false;
    begin_stream();
  }
  placed_object next = std::move(one);
  placed_.pop_front();
  if (copy && large) {
    fetch_large(std::move(next));
  } else if (copy) {
    collect(std::move(next));
  } else if (next.failure) {
    tell_failure(next.object, next.shown, *next.failure);
  } else {
    if (next.outcome == copy_outcome::already_there) moved(next.size);
    told(next, true);
  }
  return true;
}

DATAFLUX_INLINE void folder_download::told(const placed_object& one, bool verified) {
  tell({.outcome = one.outcome,
        .object = one.object,
        .path = one.shown,
        .bytes = one.size,
        .generation = one.generation,
        .note = verified ? "" : "compared with nothing, since the service has no CRC32C of it"});
}

DATAFLUX_INLINE void folder_download::collect(placed_object one) {
  if (small_.empty() || small_.back().where != one.where) ++small_folders_;
  small_.push_back(std::move(one));
}

DATAFLUX_INLINE void folder_download::begin_stream() {
  ++streams_;
  small_folders_ = 0;
  std::make_shared<small_stream>(*this, std::exchange(small_, {}))->start();
}

DATAFLUX_INLINE void folder_download::stream_ended() { --streams_; }

DATAFLUX_INLINE void folder_download::fetch_large(placed_object one) {
  if (!small_.empty() && streams_ < most_streams) begin_stream();  // they need not wait for it
  ++large_;
  download_file_request wanted;
  wanted.bucket = request().bucket;
  wanted.object = one.object;
  wanted.generation = one.generation;
  wanted.object_size = one.size;
  wanted.crc32c = one.crc32c;
  wanted.path = one.shown;
  wanted.folder = one.where->descriptor();
  wanted.resume = request().resume;
  wanted.flush = false;
  wanted.progress = [self = shared_from_this()](std::uint64_t bytes) { self->moved(bytes); };
  wanted.limits = limits();
  start_download_file(
      context(), std::move(wanted),
      back<downloaded_file>([this, one = std::move(one)](const result<downloaded_file>& got) {
        --large_;
        if (!got) return tell_failure(one.object, one.shown, got.error());
        told(one, got->verified);
      }));
}

DATAFLUX_INLINE bool folder_download::remove_extra() {
  if (!removal_) removal_.emplace(*this, extra_removal::target::files, root_);
  return removal_->turn();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
