#pragma once

#include <dataflux/checkpoint/detail/cell_checksums.hpp>

#include <algorithm>
#include <iterator>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE cell_checksums::cell_checksums(std::uint64_t size, std::uint64_t cell)
    : size_(size), cell_(std::max<std::uint64_t>(1, cell)) {
  constexpr std::uint64_t most_cells = 1U << 20U;
  while (size_ / cell_ >= most_cells) cell_ *= 2;
  const auto count = static_cast<std::size_t>(size_ / cell_ + (size_ % cell_ == 0 ? 0 : 1));
  crcs_.resize(count);
  complete_.resize(count);
}

DATAFLUX_INLINE cell_checksums::cell_checksums(std::span<const part_checksum> parts) {
  ends_.reserve(parts.size());
  crcs_.reserve(parts.size());
  for (const part_checksum& part : parts) {
    ends_.push_back(size_ += part.size);
    crcs_.push_back(part.crc32c);
  }
  complete_.resize(parts.size());
}

DATAFLUX_INLINE std::size_t cell_checksums::index_of(std::uint64_t offset) const noexcept {
  if (ends_.empty()) return static_cast<std::size_t>(offset / cell_);
  const auto part = std::upper_bound(ends_.begin(), ends_.end(), offset);
  return static_cast<std::size_t>(part - ends_.begin());
}

DATAFLUX_INLINE byte_extent cell_checksums::cell_at(std::size_t index) const noexcept {
  if (ends_.empty()) {
    const std::uint64_t begin = index * cell_;
    return {begin, std::min(cell_, size_ - begin)};
  }
  const std::uint64_t begin = index == 0 ? 0 : ends_[index - 1];
  return {begin, ends_[index] - begin};
}

DATAFLUX_INLINE byte_extent cell_checksums::cell_of(std::uint64_t offset) const noexcept {
  return cell_at(index_of(offset));
}

/// The first piece that has a byte of `range`, or begins behind it.
DATAFLUX_INLINE cell_checksums::pieces::const_iterator cell_checksums::first_in(
    byte_extent range) const noexcept {
  const auto next = pieces_.upper_bound(range.offset);
  if (next == pieces_.begin()) return next;
  const auto before = std::prev(next);
  return end_of(before) > range.offset ? before : next;
}

DATAFLUX_INLINE cell_checksums::verdict cell_checksums::take(byte_extent range, bytes_view bytes,
                                                             std::uint32_t crc) {
  const std::size_t index = index_of(range.offset);
  const bool all = range.length == cell_at(index).length;
  if (complete_[index] || !ends_.empty()) {
    if (!all) return verdict::unclear;
    if (crc != crcs_[index]) return verdict::differs;
    if (!complete_[index]) complete(index, crc);
    return verdict::good;
  }
  const std::uint64_t end = range.offset + range.length;
  const auto first = first_in(range);
  auto last = first;
  for (; last != pieces_.end() && last->first < end; ++last) {
    if (last->first < range.offset || end_of(last) > end) return verdict::unclear;
  }
  std::uint64_t known = 0;
  for (auto p = first; p != last; ++p) {
    const auto length = static_cast<std::size_t>(p->second.length());
    const bool same = length == range.length;
    const auto skip = static_cast<std::size_t>(p->first - range.offset);
    if ((same ? crc : crc32c(bytes.subspan(skip, length))) != p->second.crc()) {
      return verdict::differs;
    }
    known += length;
  }
  bytes_ -= known;
  const auto after = pieces_.erase(first, last);
  if (all) {
    complete(index, crc);
    return verdict::good;
  }
  pieces_.emplace_hint(after, range.offset, crc32c_accumulator(crc, range.length));
  bytes_ += range.length;
  if (pieces_.size() >= std::max(most_pieces, 2 * joined_)) join_pieces();
  return verdict::good;
}

DATAFLUX_INLINE void cell_checksums::complete(std::size_t index, std::uint32_t crc) {
  crcs_[index] = crc;
  complete_[index] = true;
  bytes_ += cell_at(index).length;
}

/// Makes one of pieces that touch within a cell.
DATAFLUX_INLINE void cell_checksums::join_pieces() {
  for (auto p = pieces_.begin(); p != pieces_.end();) {
    const std::size_t index = index_of(p->first);
    const byte_extent cell = cell_at(index);
    auto next = std::next(p);
    while (next != pieces_.end() && next->first == end_of(p) &&
           next->first < cell.offset + cell.length) {
      p->second.append(next->second);
      next = pieces_.erase(next);
    }
    if (p->second.length() == cell.length) {
      bytes_ -= cell.length;
      complete(index, p->second.crc());
      next = pieces_.erase(p);
    }
    p = next;
  }
  joined_ = pieces_.size();
}

DATAFLUX_INLINE bool cell_checksums::knows_some_of(byte_extent range) const noexcept {
  if (range.length == 0) return false;
  const std::uint64_t end = range.offset + range.length;
  const auto piece = first_in(range);
  if (piece != pieces_.end() && piece->first < end) return true;
  for (std::size_t i = index_of(range.offset); i <= index_of(end - 1); ++i) {
    if (complete_[i]) return true;
  }
  return false;
}

DATAFLUX_INLINE std::uint64_t cell_checksums::known_before(std::uint64_t offset,
                                                           std::uint64_t least) const noexcept {
  std::uint64_t known = least;
  const auto next = pieces_.lower_bound(offset);
  if (next != pieces_.begin()) known = std::max(known, std::min(offset, end_of(std::prev(next))));
  for (std::uint64_t at = offset; at > known;) {
    const std::size_t index = index_of(at - 1);
    if (complete_[index]) return at;
    at = cell_at(index).offset;
  }
  return known;
}

DATAFLUX_INLINE std::uint32_t cell_checksums::crc() const {
  crc32c_accumulator all;
  auto piece = pieces_.begin();
  for (std::size_t i = 0; i < crcs_.size(); ++i) {
    const byte_extent cell = cell_at(i);
    if (complete_[i]) all.append({crcs_[i], cell.length});
    for (; piece != pieces_.end() && piece->first < cell.offset + cell.length; ++piece) {
      all.append(piece->second);
    }
  }
  return all.crc();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
