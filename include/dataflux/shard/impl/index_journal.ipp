#pragma once

#include <dataflux/codec/detail/block_file.hpp>
#include <dataflux/detail/file_error.hpp>
#include <dataflux/detail/unique_name.hpp>
#include <dataflux/exec/detail/file_place.hpp>
#include <dataflux/exec/detail/mapped_file.hpp>
#include <dataflux/shard/detail/index_journal.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

/// A head of 64 bytes, then records: 64 bytes with a part's length and its checksum, which begins
/// with that of the head; then the part, and zeros up to a multiple of 64.
namespace dataflux::inline DATAFLUX_ABI::detail::shard {

inline constexpr std::size_t journal_piece = codec::block_file_piece;
inline constexpr std::array<char, journal_piece> journal_head{'d', 'f', 'x', 's',
                                                              'h', 'd', 's', '1'};

DATAFLUX_INLINE result<std::vector<shard_index>> index_journal::open(
    const shard_index_description& of) {
  const file_place place = file_place::of(path_);
  std::string name = hashed_name(".dataflux-index-", place.name);
  if (!file_.enter(-1, place.folder)) return file_error(errno, "open the folder of", path_);
  if (!file_.open(name, 0666)) {
    if (errno != EWOULDBLOCK) return file_error(errno, "create a file beside", path_);
    return error(errc::failed_precondition,
                 "another call makes the index '" + path_ + "'; wait for it, or give another path");
  }
  const std::string_view head{journal_head.data(), journal_head.size()};
  file_.set_head(as_bytes(head));
  std::shared_ptr<const void> owner;
  std::vector<shard_index> parts;
  if (file_.size() > 0) {
    const auto whole = map_file(place.folder + "/" + name, "journal", owner);
    if (whole && as_text(*whole).starts_with(head)) parts = read(*whole, owner, of);
  }
  if (parts.empty()) end_ = journal_piece;
  good_ = file_.resize(parts.empty() ? 0 : end_) && file_.write(as_bytes(head), 0);
  if (!good_) return file_error(errno, "write a file beside", path_);
  return parts;
}

DATAFLUX_INLINE std::vector<shard_index> index_journal::read(
    bytes_view whole, const std::shared_ptr<const void>& owner, const shard_index_description& of) {
  std::vector<shard_index> parts;
  for (end_ = journal_piece; whole.size() - end_ > journal_piece;) {
    const bytes_view record = whole.subspan(static_cast<std::size_t>(end_));
    const auto length = codec::load_at<std::uint64_t>(record, 0);
    if (length > record.size() - journal_piece) break;
    const bytes_view bytes = record.subspan(journal_piece, static_cast<std::size_t>(length));
    if (file_.checksum(bytes) != codec::load_at<std::uint32_t>(record, 8)) break;
    auto part = shard_index::over(bytes, owner);
    if (!part) break;
    const shard_index_description& d = part->description();
    if (d.scheme != of.scheme || d.bucket != of.bucket || d.options != of.options) break;
    parts.push_back(*std::move(part));
    end_ += journal_piece + codec::block_file_aligned(bytes.size());
    if (end_ > whole.size()) break;  // the zeros behind the last part are not there
  }
  return parts;
}

DATAFLUX_INLINE void index_journal::append(std::string_view part) noexcept {
  if (!good_) return;
  std::array<char, journal_piece> record{};
  codec::store_at(record.data(), 0, std::uint64_t{part.size()});
  codec::store_at(record.data(), 8, file_.checksum(as_bytes(part)));
  good_ = file_.write(as_bytes({record.data(), record.size()}), end_) &&
          file_.write(as_bytes(part), end_ + journal_piece);
  if (good_) end_ += journal_piece + codec::block_file_aligned(part.size());
}

DATAFLUX_INLINE void index_journal::remove() noexcept {
  end_ = 0;
  file_.remove();
}

DATAFLUX_INLINE index_journal::~index_journal() {
  if (end_ > journal_piece) file_.keep();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
