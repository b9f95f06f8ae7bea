#pragma once

#include <dataflux/detail/file_error.hpp>
#include <dataflux/detail/or_default.hpp>
#include <dataflux/exec/detail/blocking_worker.hpp>
#include <dataflux/folder/detail/folder_copy.hpp>
#include <dataflux/store/detail/validate.hpp>
#include <dataflux/transfer/detail/remover.hpp>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <system_error>

/// A copy of a folder is one coordinator: after each reply or step, advance() begins what there is
/// room for.
///
/// An upload walks the folder on threads for files and, with `resume`, meets the target's listing
/// in the same order of names. A small file waits for upload memory, is read with up to 15 others
/// in one step, and is one insert. A large file is an upload_file.
///
/// A download takes the listing page by page: it checks the name, makes the folder, compares the
/// file. Then it collects small objects into streams of a getter; large ones are download_files.
///
/// Extra names are found by going through both sides once more. Nothing is removed where the source
/// could not be read as a whole.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// The memory of listed pages that nobody has taken yet.
inline constexpr std::uint64_t look_ahead_bytes = std::uint64_t{32} << 20U;

inline std::string as_folder_prefix(std::string prefix) {
  if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
  return prefix;
}

inline result<void> check_rows(const copy_folder_request& request) {
  if (request.rows == nullptr) return {};
  if (request.delete_extra) {
    return error(errc::invalid_argument,
                 "rows: of a listing that may be old nothing can be told to be extra");
  }
  for (const object_row row : *request.rows) {
    if (row.name.starts_with(request.prefix)) continue;
    return error(errc::invalid_argument,
                 "rows: an object is not below the prefix: " + std::string(row.name));
  }
  return {};
}

DATAFLUX_INLINE bool rest_would_fail(const error& why) {
  if (is_hopeless(why) || why.bucket_missing()) return true;
  const bool of_files = why.bucket().empty() && why.code() == errc::resource_exhausted;
  if (!of_files) return false;
  const auto& category = std::generic_category();
  return why.message().ends_with(category.message(ENOSPC)) ||
         why.message().ends_with(category.message(EDQUOT));
}

DATAFLUX_INLINE folder_copy::folder_copy(const transfer_context& context,
                                         copy_folder_request request, completion done)
    : coordinator(context.store(), context.strand(), request.limits),
      context_(context),
      request_(std::move(request)),
      done_(std::move(done)) {
  request_.prefix = as_folder_prefix(std::move(request_.prefix));
}

DATAFLUX_INLINE void folder_copy::start() {
  auto good = validate_bucket_name(request_.bucket);
  if (good && request_.path.empty()) good = error(errc::invalid_argument, "path: none is given");
  if (good) good = check_path(request_.path);
  if (good) good = check_rows(request_);
  if (good && request_.by_time && !request_.resume) {
    good = error(errc::invalid_argument, "by_time: it says how to resume, and needs that");
  }
  if (!good) return refused(std::move(good).error());
  auto selected = name_selector::create(request_.select);
  if (!selected) return refused(std::move(selected).error());
  selected_ = *std::move(selected);
  coordinator::start(request_.bucket);
}

DATAFLUX_INLINE void folder_copy::begin() {
  if (!watch_stop()) return stop_asked();
  watch_deadline();
  open();
  advance();
}

DATAFLUX_INLINE void folder_copy::stop_heard() noexcept {
  const auto self = weak_from_this().lock();
  if (self == nullptr) return;
  stop_requests();  // steps on other threads see it at once
  coordinator::stop_heard();
}

DATAFLUX_INLINE error folder_copy::stop_error() const {
  return error(errc::cancelled, "the caller asked to stop").with_bucket(request_.bucket);
}

DATAFLUX_INLINE void folder_copy::stop_asked() {
  fail(stop_error());
  advance();
}

DATAFLUX_INLINE void folder_copy::time_passed() {
  late_.store(true, std::memory_order_relaxed);
  give_up(
      error(errc::deadline_exceeded, "the copy's timeout has passed").with_bucket(request_.bucket));
  advance();
}

DATAFLUX_INLINE fast_list_request folder_copy::listing() const {
  return {.bucket = request_.bucket,
          .prefix = request_.prefix + selected_.prefix(),
          .extra = selected_.needs_times() || request_.by_time ? extra_columns::created
                                                               : extra_columns::none,
          .filter = {.skip_markers = false, .skip_composed = false},
          .memory_cap = look_ahead_bytes,
          .order = list_order::by_name,
          .limits = limits()};
}

DATAFLUX_INLINE void folder_copy::tell(const copy_item& item) {
  switch (item.outcome) {
    case copy_outcome::copied:
      ++report_.copied;
      report_.bytes += item.bytes;
      break;
    case copy_outcome::already_there:
      ++report_.already_there;
      break;
    case copy_outcome::folder:
      ++report_.folders;
      break;
    case copy_outcome::removed:
      ++report_.removed;
      break;
    case copy_outcome::failed:
      ++report_.failed;
      break;
  }
  if (item.failure != nullptr &&
      report_.failures.size() < or_default<std::size_t>(request_.max_failures, 100)) {
    report_.failures.push_back({std::string(item.object), std::string(item.path), *item.failure});
  }
  if (request_.item) request_.item(item);
  if (item.failure == nullptr) return;
  note(*item.failure);
  if (rest_would_fail(*item.failure) || request_.on_error == copy_on_error::stop)
    fail(*item.failure);
}

DATAFLUX_INLINE void folder_copy::tell_failure(std::string_view object, std::string_view path,
                                               const error& why) {
  tell({.outcome = copy_outcome::failed, .object = object, .path = path, .failure = &why});
}

DATAFLUX_INLINE void folder_copy::expect(std::uint64_t objects, std::uint64_t bytes) {
  report_.found += objects;
  if (request_.found) request_.found(objects, bytes);
}

DATAFLUX_INLINE void folder_copy::fail(error why) {
  stop_requests();  // first: to note the failure takes memory
  give_up(std::move(why));
}

DATAFLUX_INLINE void folder_copy::fall_short(error why) {
  fail(std::move(why));
  advance();
}

DATAFLUX_INLINE void folder_copy::give_up(error why) {
  note(why);
  if (!failure_) failure_ = std::move(why);
}

DATAFLUX_INLINE void folder_copy::run_step(task step) {
  const auto kept = std::make_shared<task>(std::move(step));
  auto begun = try_file_step([kept] { (*kept)(); });
  if (begun) return;
  // No thread is to be had: the little that a step does of a call that has failed is done here.
  fail(std::move(begun).error());
  (*kept)();
}

DATAFLUX_INLINE void folder_copy::advance() {
  again_ = true;
  if (advancing_ || !done_) return;
  advancing_ = true;
  const auto self = shared_from_this();
  bool ended = false;
  while (std::exchange(again_, false)) {
    bool all_begun = false;
    const bool enough =
        within_memory([&] { all_begun = source_ended_ ? !removing_ || remove_extra() : turn(); });
    if (!enough) {
      // It tries to end in order once.
      again_ = !std::exchange(short_, true);
      fail(short_of_memory());
      all_begun = true;
    }
    if (again_) continue;
    ended = all_begun && in_flight() == 0;
    // A stop ends what is under way before it is told here.
    if (ended && stopped() && !failure_) {
      within_memory([this] { give_up(stop_error()); }, [this] { give_up(short_of_memory()); });
    }
    if (ended && !source_ended_) {
      within_memory([this] { source_ended(); }, [this] { fail(short_of_memory()); });
    }
  }
  advancing_ = false;
  if (ended) end();
}

DATAFLUX_INLINE void folder_copy::advance_soon() {
  if (std::exchange(due_, true)) return;
  taken_back_unless_kept due([this] { due_ = false; });
  post_step([](folder_copy& self) {
    self.due_ = false;
    self.advance();
  });
  due.kept();
}

DATAFLUX_INLINE void folder_copy::source_ended() {
  source_ended_ = true;
  again_ = true;
  if (!request_.delete_extra) return;
  if (failure_ || source_unread_) {
    report_.not_removed =
        "some part of the source could not be read, and what it has may not be known";
    return;
  }
  if (report_.failed > 0) {
    report_.not_removed = "not everything could be copied, so that the target may be all there is";
    return;
  }
  if (report_.found == 0) {
    report_.not_removed = "the source is empty, which is more often a mistake than a wish";
    return;
  }
  removing_ = true;
}

DATAFLUX_INLINE void folder_copy::end() {
  unwatch();
  if (failure_ && failure_->code() == errc::deadline_exceeded) {
    within_memory([this] { failure_ = met_.tell(); });
  }
  auto done = std::exchange(done_, {});
  if (failure_) return done(std::move(*failure_));
  done(std::move(report_));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
