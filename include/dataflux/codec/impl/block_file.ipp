#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/block_file.hpp>

#include <algorithm>
#include <array>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

DATAFLUX_INLINE result<void> check_block_file_order(const block_file_kind& kind) {
  if constexpr (std::endian::native != std::endian::little) {
    return error{errc::unimplemented,
                 std::string{"a "}.append(kind.noun).append(" is for little-endian machines")};
  }
  return {};
}

DATAFLUX_INLINE error damaged_block_file(const block_file_kind& kind, std::string_view what) {
  std::string text{"the "};
  text.append(kind.noun).append(" is damaged: ").append(what).append("; ").append(kind.mend);
  return error{errc::data_loss, std::move(text)};
}

DATAFLUX_INLINE error of_block_file(const std::string& shown_as, error why) {
  if (shown_as.empty()) return why;
  return std::move(why.with_message(shown_as + ": " + why.message()));
}

inline error truncated_block_file(const block_file_kind& kind, std::size_t bytes,
                                  std::string_view what) {
  std::string text{"the "};
  text.append(kind.noun).append(" is truncated: ").append(std::to_string(bytes));
  return error{errc::data_loss, std::move(text.append(" bytes").append(what))};
}

inline result<void> check_block_file_head(const block_file_kind& kind, bytes_view whole) {
  const std::string_view start = as_text(whole.first(std::min(whole.size(), kind.magic.size())));
  if (start.empty() || !kind.magic.starts_with(start)) {
    return error{errc::invalid_argument,
                 std::string{"not a "}.append(kind.noun).append(": it begins otherwise")};
  }
  if (whole.size() < block_file_piece) {
    return truncated_block_file(kind, whole.size(), " are less than its head");
  }
  if (load_at<std::uint32_t>(whole, 60) != crc32c(whole.first(60))) {
    return damaged_block_file(kind, "the checksum of its head does not match");
  }
  const auto version = load_at<std::uint32_t>(whole, 8);
  if (version != kind.version) {
    std::string text{"the "};
    text.append(kind.noun).append(" has format version ").append(std::to_string(version));
    text.append(", this library reads ").append(std::to_string(kind.version));
    return error{errc::unimplemented, std::move(text)};
  }
  return check_block_file_order(kind);
}

DATAFLUX_INLINE result<block_file_end> read_block_file_end(const block_file_kind& kind,
                                                           bytes_view whole) {
  if (auto good = check_block_file_head(kind, whole); !good) return std::move(good).error();
  const std::size_t at = whole.size() - block_file_piece;
  const bytes_view last = whole.subspan(at);
  if (at < block_file_piece || as_text(last.subspan(56)) != kind.end_magic) {
    return truncated_block_file(kind, whole.size(), ", and the last of them are not its end");
  }
  if (load_at<std::uint32_t>(last, 52) != crc32c(last.first(52))) {
    return damaged_block_file(kind, "the checksum of its end does not match");
  }
  block_file_end end;
  end.bytes = load_at<std::uint64_t>(last, 0);
  end.rows = load_at<std::uint64_t>(last, 8);
  end.table_begin = load_at<std::uint64_t>(last, 16);
  end.description_begin = load_at<std::uint64_t>(last, 24);
  end.description_bytes = load_at<std::uint32_t>(last, 32);
  end.blocks = load_at<std::uint32_t>(last, 36);
  end.table_crc = load_at<std::uint32_t>(last, 40);
  end.description_crc = load_at<std::uint32_t>(last, 44);
  if (end.bytes != whole.size()) {
    return damaged_block_file(kind, "it has " + std::to_string(whole.size()) + " bytes where " +
                                        std::to_string(end.bytes) + " were written");
  }
  const bool inside = end.description_begin >= block_file_piece && end.description_begin <= at &&
                      end.description_bytes <= at - end.description_begin &&
                      end.table_begin >= block_file_piece && end.table_begin <= at &&
                      end.blocks == (at - end.table_begin) / block_file_piece;
  if (!inside) return damaged_block_file(kind, "its end names places outside of it");
  return end;
}

DATAFLUX_INLINE result<bytes_view> block_file_table(const block_file_kind& kind, bytes_view whole,
                                                    const block_file_end& end) {
  const bytes_view table =
      whole.subspan(end.table_begin, std::size_t{end.blocks} * block_file_piece);
  if (crc32c(table) == end.table_crc) return table;
  return damaged_block_file(kind, "the checksum of its table does not match");
}

DATAFLUX_INLINE result<bytes_view> block_file_description(const block_file_kind& kind,
                                                          bytes_view whole,
                                                          const block_file_end& end) {
  const bytes_view text = whole.subspan(end.description_begin, end.description_bytes);
  if (crc32c(text) == end.description_crc) return text;
  return damaged_block_file(kind, "the checksum of its description does not match");
}

DATAFLUX_INLINE void block_file_writer::append_head(std::string& out) {
  std::array<char, block_file_piece> to{};
  std::copy(kind_.magic.begin(), kind_.magic.end(), to.begin());
  store_at(to.data(), 8, kind_.version);
  store_at(to.data(), 60, crc32c(as_bytes({to.data(), 60})));
  out.append(to.data(), to.size());
  written_ = block_file_piece;
}

DATAFLUX_INLINE void block_file_writer::count(std::string_view entry, std::uint64_t bytes,
                                              std::uint64_t rows) {
  table_.append(entry);
  written_ += bytes;
  rows_ += rows;
  ++blocks_;
}

DATAFLUX_INLINE void block_file_writer::append_rest(std::string_view description,
                                                    std::string& out) {
  const std::size_t table_begin = block_file_aligned(written_ + description.size());
  out.append(description);
  out.append(table_begin - written_ - description.size(), '\0');
  out.append(table_);
  std::array<char, block_file_piece> to{};
  store_at(to.data(), 0, std::uint64_t{table_begin + table_.size() + block_file_piece});
  store_at(to.data(), 8, rows_);
  store_at(to.data(), 16, std::uint64_t{table_begin});
  store_at(to.data(), 24, written_);
  store_at(to.data(), 32, static_cast<std::uint32_t>(description.size()));
  store_at(to.data(), 36, blocks_);
  store_at(to.data(), 40, crc32c(as_bytes(table_)));
  store_at(to.data(), 44, crc32c(as_bytes(description)));
  store_at(to.data(), 52, crc32c(as_bytes({to.data(), 52})));
  std::copy(kind_.end_magic.begin(), kind_.end_magic.end(), to.begin() + 56);
  out.append(to.data(), to.size());
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
