#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/file_error.hpp>
#include <dataflux/folder/detail/folder_upload.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Of small files, for one step on a thread for files.
inline constexpr std::size_t most_in_group = 16;
inline constexpr std::uint64_t most_bytes_in_group = std::uint64_t{4} << 20U;

/// Reads when there is memory for it.
DATAFLUX_INLINE void folder_upload::admit(const file_ptr& one) {
  ++small_;
  waiting_ = true;
  taken_back_unless_kept asks([this] {
    waiting_ = false;
    --small_;
  });
  if (joined_) {
    acquire(one);
    return asks.kept();
  }
  memory().join(account_, small_limit_, upload_memory::source::by_itself,
                [this, self = shared_from_this(), one](const result<void>& in) {
                  joined_ = in.has_value();
                  make_step([&](folder_copy& /*self*/) {
                    if (!in) return granted(one, in);
                    taken_back_unless_kept goes_on([this] {
                      waiting_ = false;
                      one_small_less();
                    });
                    acquire(one);
                    goes_on.kept();
                  });
                });
  asks.kept();
}

DATAFLUX_INLINE void folder_upload::acquire(const file_ptr& one) {
  memory().acquire(account_, one->file.size,
                   [this, self = shared_from_this(), one](const result<void>& outcome) {
                     waiting_ = false;
                     make_step([&](folder_copy& /*self*/) { granted(one, outcome); });
                   });
}

DATAFLUX_INLINE void folder_upload::granted(const file_ptr& one, const result<void>& outcome) {
  waiting_ = false;
  if (!outcome) {
    one_small_less();
    return tell_failure(one->object, one->shown, outcome.error());
  }
  group_.push_back(one);
  group_bytes_ += one->file.size;
  if (group_.size() == most_in_group || group_bytes_ >= most_bytes_in_group) return read_group();
  advance_soon();
}

/// Others may be waiting for what is no longer needed.
DATAFLUX_INLINE void folder_upload::one_small_less() {
  if (--small_ == 0 && std::exchange(joined_, false)) memory().leave(account_);
}

DATAFLUX_INLINE void folder_upload::read_group() {
  if (group_.empty()) return;
  group_bytes_ = 0;
  const auto some = std::make_shared<std::vector<file_ptr>>(std::exchange(group_, {}));
  on_file_thread(
      [this, some] {
        for (const file_ptr& one : *some) read(*one);
      },
      [this, some] {
        for (const file_ptr& one : *some) was_read(one);
      });
}

DATAFLUX_INLINE void folder_upload::read(one_file& one) const {
  const walked_file& file = one.file;
  const auto size = static_cast<std::size_t>(file.size);
  if (stopped()) {
    one.failure = not_tried();
    return;
  }
  // Not to wait for the other end of what has become a pipe.
  constexpr int how = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const int descriptor = ::openat(file.where->descriptor(), file.name.c_str(), how);
  if (descriptor < 0) {
    one.failure = file_error(errno, "open", one.shown);
    return;
  }
  // One byte more than is expected, to see that there is none.
  std::size_t done = 0;
  ::ssize_t got = 1;
  try {
    one.memory = context().state()->uploads.buffers.acquire(size + 1);
    while (got > 0 && done <= size) {
      got = ::read(descriptor, one.memory.data() + done, size + 1 - done);
      if (got > 0) done += static_cast<std::size_t>(got);
      if (got < 0 && errno == EINTR) got = 1;
    }
    if (got < 0) one.failure = file_error(errno, "read", one.shown);
  } catch (const std::bad_alloc&) {
    one.failure = error(errc::resource_exhausted, "there is no memory for '" + one.shown + "'");
  }
  ::close(descriptor);
  if (!one.failure && done != size) {
    one.failure = error(errc::aborted, "'" + one.shown + "': its size changed while it was read")
                      .with_retryable(true);
  }
  one.same = !one.failure && one.there && crc32c({one.memory.data(), size}) == *one.there;
}

DATAFLUX_INLINE void folder_upload::was_read(const file_ptr& one) {
  one->file.where.reset();  // few folders are kept open
  if (one->failure || one->same) {
    end_small(one);
    return one->failure ? tell_failure(one->object, one->shown, *one->failure)
                        : already_there(*one);
  }
  target_has_objects_ && !request().no_clobber ? replace(one) : insert(one, 0);
}

/// Stats the object first.
DATAFLUX_INLINE void folder_upload::replace(const file_ptr& one) {
  one->looked = true;
  store().start_stat({.bucket = request().bucket,
                      .object = one->object,
                      .fields = metadata_fields::basic,
                      .limits = limits()},
                     back<object_metadata>([this, one](const result<object_metadata>& there) {
                       if (there) return insert(one, there->generation);
                       const auto why = there.error().code();
                       if (why == errc::not_found) return insert(one, 0);
                       // Who may write need not be allowed to read.
                       if (why == errc::permission_denied) return insert(one, std::nullopt);
                       end_small(one);
                       tell_failure(one->object, one->shown, there.error());
                     }));
}

/// In the place of `generation`, 0 for none: so that nobody else's object is overwritten, and the
/// store may repeat the request. In the place of anything where it is not known.
DATAFLUX_INLINE void folder_upload::insert(const file_ptr& one,
                                           std::optional<std::int64_t> generation) {
  const insert_request wanted{
      .bucket = request().bucket,
      .object = one->object,
      .data = bytes_view(one->memory.data(), static_cast<std::size_t>(one->file.size)),
      .attributes = attributes_of(one->object),
      .conditions = {.if_generation_match = generation},
      .last_writer_wins = true,
      .limits = limits()};
  store().start_insert(
      wanted, back<object_metadata>(
                  [this, one](const result<object_metadata>& made) { inserted(one, made); }));
}

DATAFLUX_INLINE void folder_upload::inserted(const file_ptr& one,
                                             const result<object_metadata>& made) {
  // Most targets have nothing yet; when one has, it is likely that others have, too. The store
  // knows its own object by its mark, so that this is none of ours, whatever attempt has met it.
  if (!made && found_taken(made.error())) {
    end_small(one);
    return already_there(*one);
  }
  if (!made && made.error().http_status() == 412 && !one->looked) {
    target_has_objects_ = true;
    return replace(one);
  }
  end_small(one);
  if (!made) return tell_failure(one->object, one->shown, made.error());
  moved(one->file.size);
  copied(*one);
}

DATAFLUX_INLINE void folder_upload::end_small(const file_ptr& one) {
  one->memory = {};
  memory().release(account_, one->file.size);
  one_small_less();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
