#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/file_error.hpp>
#include <dataflux/detail/unique_name.hpp>
#include <dataflux/download/detail/part_file.hpp>
#include <dataflux/exec/detail/file_place.hpp>
#include <dataflux/exec/detail/hidden_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

/// A part file is unopened, then opened, then published, kept or gone.
///
/// create() makes one that no later call finds. open_with_journal() opens the one that an earlier
/// call has left, and takes its lock. If header and size are exactly those of this content, each
/// slice whose record is good and whose bytes match it is verified(). Otherwise begin_anew()
/// empties it.
///
/// write() puts the bytes of a slice first and its record second. A record that was torn, or whose
/// bytes never came to the disk, does not match, and the slice is read once more.
///
/// publish() cuts header and records off and renames the file. Without it the destructor removes
/// the file, unless keep() was called.
namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr char part_magic[8] = {'d', 'f', 'x', 'p', 'a', 'r', 't', '1'};
/// Read back at a time: it stays in the cache.
inline constexpr std::size_t read_back_bytes = std::size_t{1} << 20U;

DATAFLUX_INLINE result<void> part_file::fail(const char* what) const {
  return file_error(errno, what, path_);
}

/// Splits the path. All that follows is relative to one open folder.
DATAFLUX_INLINE result<void> part_file::find_place() {
  const file_place place = file_place::of(path_);
  name_ = place.name;
  if (!file_.enter(folder_, place.folder)) return fail("open the folder of");
  struct stat there {};
  const bool taken = ::fstatat(file_.folder(), name_.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0;
  if (!taken && errno == ENAMETOOLONG) return fail("create");
  if (auto good = check_published_name(name_, path_); !good) return good;
  if (name_.empty() || name_ == "." || name_ == ".." || (taken && S_ISDIR(there.st_mode))) {
    errno = EISDIR;
    return fail("replace");
  }
  return check_replaced(file_.folder(), name_, path_);
}

DATAFLUX_INLINE result<void> part_file::create() {
  if (auto found = find_place(); !found) return found;
  if (!file_.create(0666)) return fail("create");
  return content_.slices() > 1 ? make_room(content_.length) : result<void>();
}

DATAFLUX_INLINE result<void> part_file::open_with_journal() {
  if (auto found = find_place(); !found) return found;
  journal_ = true;
  if (!file_.open(hashed_name(".dataflux-part-", name_), 0666)) {
    if (errno != EWOULDBLOCK) return fail("create");
    return error(errc::failed_precondition, "another download of '" + path_ + "' is at work");
  }
  make_head();
  std::array<std::byte, head_size> found{};
  // Memory for what is there; else not before there is room for it.
  if (file_.size() == full_size() && read_back(found, content_.length) && found == head_) {
    records_.resize(content_.slices() * record_size);
    if (read_back(records_, content_.length + head_size)) return {};
  }
  return begin_anew();
}

DATAFLUX_INLINE std::uint64_t part_file::full_size() const noexcept {
  return content_.length + head_size + content_.slices() * record_size;
}

DATAFLUX_INLINE void part_file::make_head() {
  const auto name = crc32c(as_bytes(content_.bucket + '\n' + content_.object + '\n' + name_));
  std::byte* at = head_.data();
  const auto add = [&at](const auto& value) {
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
  };
  add(part_magic);
  add(content_.generation);
  add(content_.object_size);
  add(content_.offset);
  add(content_.length);
  add(content_.slice);
  add(name);
  file_.set_head(bytes_view(head_).first(head_size - sizeof(std::uint32_t)));
  add(file_.head_checksum());
}

DATAFLUX_INLINE std::uint32_t part_file::check_of(std::size_t i,
                                                  std::uint32_t crc32c) const noexcept {
  const std::uint64_t record[]{i, crc32c};
  return file_.checksum(std::as_bytes(std::span(record)));
}

DATAFLUX_INLINE result<void> part_file::begin_anew() {
  if (!file_.resize(0)) return fail("empty the part of");
  if (auto room = make_room(full_size()); !room) return room;
  records_.assign(content_.slices() * record_size, std::byte{0});
  if (!file_.resize(full_size())) return fail("enlarge");
  return put(head_, content_.length);
}

DATAFLUX_INLINE result<void> part_file::make_room(std::uint64_t size) {
  return file_.make_room(size) ? result<void>() : fail("make room for");
}

DATAFLUX_INLINE result<void> part_file::put(bytes_view bytes, std::uint64_t offset) {
  return file_.write(bytes, offset) ? result<void>() : fail("write");
}

DATAFLUX_INLINE bool part_file::read_back(bytes_span into, std::uint64_t offset) const {
  return file_.read(into, offset) == into.size();
}

DATAFLUX_INLINE std::optional<std::uint32_t> part_file::verified(std::size_t i,
                                                                 codec::whole_checksum* also) {
  std::uint32_t record[2];
  std::memcpy(record, records_.data() + i * record_size, record_size);
  if (record[1] != check_of(i, record[0])) return std::nullopt;
  scratch_.resize(
      static_cast<std::size_t>(std::min<std::uint64_t>(content_.slice, read_back_bytes)));
  std::uint32_t crc = 0;
  std::uint64_t at = content_.begin_of(i);
  for (std::uint64_t left = content_.length_of(i); left > 0;) {
    const auto some = bytes_span(scratch_).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(left, scratch_.size())));
    if (!read_back(some, at)) return std::nullopt;
    crc = crc32c_extend(crc, some);
    if (also != nullptr) also->value = codec::extend_sum(also->kind, also->value, some);
    at += some.size();
    left -= some.size();
  }
  if (crc != record[0]) return std::nullopt;
  return crc;
}

DATAFLUX_INLINE result<void> part_file::write(std::size_t i, bytes_view bytes,
                                              std::uint32_t crc32c) {
  if (auto good = put(bytes, content_.begin_of(i)); !good || !journal_) return good;
  const std::uint32_t record[]{crc32c, check_of(i, crc32c)};
  return put(std::as_bytes(std::span(record)), content_.length + head_size + i * record_size);
}

DATAFLUX_INLINE result<void> part_file::publish(bool flush) {
  if (journal_ && !file_.resize(content_.length)) return fail("cut");
  if (!file_.publish(name_, flush)) return fail("replace");
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
