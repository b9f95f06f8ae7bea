#pragma once

#include <dataflux/folder/detail/folder_upload.hpp>
#include <dataflux/transfer/detail/part_plan.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Up to here a file is sent in one request; above it goes in parallel parts.
inline constexpr std::uint64_t whole_object_limit = std::uint64_t{16} << 20U;
/// Of large files, unless there would be too many of them, or they would not fit the memory.
inline constexpr std::uint64_t usual_part_size = std::uint64_t{16} << 20U;
inline constexpr std::size_t most_large_uploads = 8;
/// Requests of small files.
inline constexpr std::size_t most_small_uploads = 128;
inline constexpr std::size_t most_comparisons = 4;
inline constexpr std::uint64_t compared_a_step = std::uint64_t{8} << 20U;

/// All large uploads and the small ones together have room for a part each.
inline std::uint64_t part_size_within(std::uint64_t memory, const store_traits& traits) {
  const std::uint64_t share = memory / (most_large_uploads + 1) / part_quantum * part_quantum;
  return std::max(traits.min_part_size, std::min(usual_part_size, share));
}

DATAFLUX_INLINE folder_upload::folder_upload(const transfer_context& context,
                                             copy_folder_request request, completion done)
    : folder_copy(context, std::move(request), std::move(done)),
      small_limit_(std::min(whole_object_limit, context.options().upload_memory / 4)),
      part_size_(part_size_within(context.options().upload_memory, context.store().traits())),
      most_large_(static_cast<std::size_t>(std::clamp<std::uint64_t>(
          (context.options().upload_memory - small_limit_) / part_size_, 1, most_large_uploads))) {}

DATAFLUX_INLINE upload_memory& folder_upload::memory() const noexcept {
  return context().state()->uploads.memory;
}

DATAFLUX_INLINE void folder_upload::open() {
  const auto opened = std::make_shared<result<folder_ptr>>(folder_ptr());
  on_file_thread([this, opened] { *opened = folder_handle::open(request().path); },
                 [this, opened] {
                   if (!*opened) return fail(opened->error());
                   root_ = **opened;
                   files_.emplace(*this, root_);
                   if (request().resume || request().no_clobber) there_.emplace(*this);
                 });
}

DATAFLUX_INLINE bool folder_upload::turn() {
  if (stopped()) {
    over_ = true;
    if (waiting_) {
      error why = short_of_memory();
      within_memory([&] { why = not_tried(); });
      memory().forget(account_, why);
    }
  }
  if (!files_) return over_;
  while (!over_ && next()) {
  }
  read_group();
  // What was lost for want of memory holds it no longer.
  if (over_ && !waiting_ && in_flight() == 0 && std::exchange(joined_, false)) {
    memory().leave(account_);
  }
  return (over_ || files_->ended()) && !waiting_;
}

/// Begins with the next file, where there is room. False: not now.
DATAFLUX_INLINE bool folder_upload::next() {
  if (waiting_ || small_ >= most_small_uploads || comparing_ >= most_comparisons) return false;
  if (!files_->ready()) return false;
  walked_file& file = files_->front();
  using kind = walked_file::kind;
  // Of a folder that cannot be read nobody knows what is in it.
  const bool wanted = file.what == kind::file ? selected().takes(file.path, file.size, file.changed)
                      : file.what == kind::other ? selected().takes_name(file.path)
                                                 : true;
  if (!wanted) {
    files_->pop();
    return true;
  }
  if (file.failure) {
    if (file.what == kind::unread || file.what == kind::linked_folder) source_unread();
    tell_failure({}, path_below(request().path, file.path), *file.failure);
    files_->pop();
    return true;
  }
  if (file.size > small_limit_ && large_ >= most_large_) return false;
  if (there_ && !find(request().prefix + file.path)) return over_;
  walked_file taken = std::move(file);
  files_->pop();
  take(std::move(taken));
  return true;
}

/// Whether the target has it; false while that is not known.
DATAFLUX_INLINE bool folder_upload::find(std::string_view object) {
  while (there_->ready() && there_->front().name < object) there_->pop();
  found_there_ = there_->ready() && there_->front().name == object;
  if (there_->ready()) return true;
  if (there_->failure()) {
    over_ = true;
    give_up(*there_->failure());
    return false;
  }
  return there_->ended();
}

DATAFLUX_INLINE void folder_upload::take(walked_file file) {
  const auto one = std::make_shared<one_file>();
  one->object = request().prefix + file.path;
  one->shown = path_below(request().path, file.path);
  if (there_ && found_there_) {
    target_has_objects_ = true;
    const auto created = there_->extras().created;
    const bool alike = there_->front().size == file.size;
    if (alike) one->there = there_->front().crc32c;
    one->same = request().by_time && alike && created && *created >= file.changed + clearly_later;
    one->same = one->same || request().no_clobber;
  }
  expect(1, file.size);
  one->file = std::move(file);
  if (one->same) return already_there(*one);
  if (request().dry_run) {
    if (!one->there) return copied(*one);
    ++comparing_;
    return compare(one, &folder_upload::compared_dry);
  }
  if (one->file.size <= small_limit_) return admit(one);
  begin_large(one);
}

/// Reads it step by step, and tells `known` whether it has the bytes that are there.
DATAFLUX_INLINE void folder_upload::compare(const file_ptr& one,
                                            void (folder_upload::*known)(const file_ptr&)) {
  on_file_thread(
      [one] {
        if (!one->comparison) {
          one->comparison.emplace(*one->file.where, one->file.name, links::followed, one->file.size,
                                  *one->there);
        }
        one->same = false;
        if (one->comparison->read(compared_a_step)) return;
        one->same = one->comparison->same();
        one->comparison.reset();
      },
      [this, one, known] {
        if (one->comparison && !stopped()) return compare(one, known);
        (this->*known)(one);
      });
}

DATAFLUX_INLINE void folder_upload::compared_dry(const file_ptr& one) {
  --comparing_;
  one->same ? already_there(*one) : copied(*one);
}

DATAFLUX_INLINE void folder_upload::copied(const one_file& one) {
  tell({.outcome = copy_outcome::copied,
        .object = one.object,
        .path = one.shown,
        .bytes = one.file.size,
        .note = one.note});
}

DATAFLUX_INLINE void folder_upload::already_there(const one_file& one) {
  moved(one.file.size);
  tell({.outcome = copy_outcome::already_there,
        .object = one.object,
        .path = one.shown,
        .bytes = one.file.size});
}

DATAFLUX_INLINE object_attributes folder_upload::attributes_of(const std::string& object) const {
  object_attributes out = request().attributes;
  if (out.content_type.empty()) out.content_type = content_type_of(object);
  return out;
}

/// Somebody has written it since the target was listed, and it is to stay.
DATAFLUX_INLINE bool folder_upload::found_taken(const error& why) const {
  return request().no_clobber && why.http_status() == 412;
}

DATAFLUX_INLINE void folder_upload::begin_large(const file_ptr& one) {
  ++large_;
  if (!request().resume) return send_large(one);
  if (one->there) return compare(one, &folder_upload::compared_large);
  compared_large(one);
}

DATAFLUX_INLINE void folder_upload::compared_large(const file_ptr& one) {
  if (one->same) {
    --large_;
    return already_there(*one);
  }
  on_file_thread([this, one] { look_for_journal(*one); },
                 [this, one] {
                   if (told_of_journal_) one->note.clear();
                   if (!one->journal) told_of_journal_ = true;
                   send_large(one);
                 });
}

/// A folder that nobody may write to is copied all the same. On a thread for files.
DATAFLUX_INLINE void folder_upload::look_for_journal(one_file& one) {
  one.journal = ::faccessat(one.file.where->descriptor(), ".", W_OK, AT_EACCESS) == 0;
  if (one.journal) return;
  one.note = "no journal can be kept beside it (" + std::generic_category().message(errno) +
             "): if its copy breaks off it begins anew";
}

/// A file so large that two of its parts are more than the memory for uploads gets some of its own.
DATAFLUX_INLINE transfer_context folder_upload::context_for(std::uint64_t size) const {
  const std::uint64_t parts = store().traits().max_parts;
  const std::uint64_t least = (size / parts / part_quantum + 1) * part_quantum;
  if (2 * least <= context().options().upload_memory) return context();
  return transfer_context(store(), {.upload_memory = 2 * least});
}

/// As much as is right for one of several, less where other uploads leave less.
DATAFLUX_INLINE std::uint64_t folder_upload::part_size() const {
  const std::uint64_t quarter = memory().free_to_own() / 4 / part_quantum * part_quantum;
  const std::uint64_t least = std::max(least_usual_part, store().traits().min_part_size);
  return std::clamp(quarter, std::min(least, part_size_), part_size_);
}

DATAFLUX_INLINE void folder_upload::send_large(const file_ptr& one) {
  if (stopped()) {
    --large_;
    return tell_failure(one->object, one->shown, not_tried());
  }
  upload_file_request wanted;
  wanted.path = one->shown;
  wanted.folder = one->file.where->descriptor();
  wanted.upload.bucket = request().bucket;
  wanted.upload.object = one->object;
  wanted.upload.attributes = attributes_of(one->object);
  if (request().no_clobber) wanted.upload.if_generation_match = 0;
  wanted.upload.observer = request().observer;
  wanted.upload.limits = limits();
  const std::uint64_t part = part_size();
  if (one->file.size / part < store().traits().max_parts) wanted.upload.part_size = part;
  wanted.resume = one->journal;
  wanted.progress = [self = shared_from_this()](std::uint64_t bytes) { self->moved(bytes); };
  start_upload_file(context_for(one->file.size), std::move(wanted),
                    back<uploaded_file>(
                        [this, one](const result<uploaded_file>& sent) { end_large(*one, sent); }));
}

DATAFLUX_INLINE void folder_upload::end_large(one_file& one, const result<uploaded_file>& sent) {
  --large_;
  if (!sent && found_taken(sent.error())) return already_there(one);
  if (!sent) return tell_failure(one.object, one.shown, sent.error());
  if (!sent->made.fallback.empty() && !std::exchange(told_of_fallback_, true)) {
    if (!one.note.empty()) one.note += "; ";
    one.note += "not uploaded in the safest way: " + sent->made.fallback;
  }
  copied(one);
}

DATAFLUX_INLINE bool folder_upload::remove_extra() {
  if (!removal_) removal_.emplace(*this, extra_removal::target::objects, root_);
  return removal_->turn();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
