#pragma once

#include <dataflux/detail/text.hpp>
#include <dataflux/shard/detail/tar_reader.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

/// A block is a header, or zeros. A header leads to the phase of its body: of an extension, which
/// is kept, or of data, which are passed on. The padding behind either leads back to a header.
/// Where a body has ended is noticed by settle(), before more input is asked for.
namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Offsets of objects have 63 bits.
inline constexpr auto most_tar_offset =
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

inline std::string at_offset(std::uint64_t at) { return " at offset " + std::to_string(at); }

/// An error by any rule: the object may be whole, and of another format.
inline error no_archive(const std::string& what, std::uint64_t at) {
  return error{errc::data_loss,
               what + at_offset(at) +
                   ": this is no tar archive, or compressed in a way that is not "
                   "read here, or damaged; leave it out, or write the shard again"};
}

DATAFLUX_INLINE result<tar_step> tar_reader::next(bytes_view input) {
  if (failure_) return *failure_;
  tar_step step;
  for (;;) {
    settle(step);
    const bytes_view rest = input.subspan(step.consumed);
    if (step.event != tar_event::more || rest.empty()) return step;
    if (auto good = advance(rest, step); !good) {
      failure_ = std::move(good).error();
      return *failure_;
    }
    if (step.event != tar_event::more) return step;
  }
}

DATAFLUX_INLINE void tar_reader::consume(tar_step& step, std::size_t count) noexcept {
  step.consumed += count;
  offset_ += count;
}

DATAFLUX_INLINE void tar_reader::settle(tar_step& step) noexcept {
  if (phase_ == phase::data && left_ == 0) {
    phase_ = phase::padding;
    left_ = padding_;
    if (file_open_) step.event = tar_event::file_end;
    file_open_ = false;
  }
  if (phase_ == phase::padding && left_ == 0) phase_ = phase::header;
}

DATAFLUX_INLINE result<void> tar_reader::advance(bytes_view input, tar_step& step) {
  switch (phase_) {
    case phase::header:
      return take_header_bytes(input, step);
    case phase::extension:
      return take_extension(input, step);
    case phase::data:
      take_data(input, step);
      break;
    case phase::padding: {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
      left_ -= count;
      consume(step, count);
      break;
    }
    case phase::rest:
      counts_.bytes_behind += input.size();
      consume(step, input.size());
      break;
  }
  return {};
}

DATAFLUX_INLINE result<void> tar_reader::take_header_bytes(bytes_view input, tar_step& step) {
  if (filled_ == 0 && input.size() >= tar_block) {
    consume(step, tar_block);
    return take_block(input.first(tar_block), step);
  }
  const std::size_t count = std::min(tar_block - filled_, input.size());
  std::memcpy(block_.data() + filled_, input.data(), count);
  filled_ += count;
  consume(step, count);
  if (filled_ < tar_block) return {};
  filled_ = 0;
  return take_block(block_, step);
}

DATAFLUX_INLINE result<void> tar_reader::take_block(bytes_view block, tar_step& step) {
  block_at_ = offset_ - tar_block;
  if (is_zero(block)) {
    if (!between_) return damaged(member_.begin, "an extension header belongs to no member");
    if (zeros_ < 2) ++zeros_;
    return {};
  }
  if (zeros_ != 0) {
    auto good = take_behind_zeros(block);
    if (!good || phase_ == phase::rest) return good;
  }
  const auto header = parse_tar_header(block);
  if (!header && block_at_ == begin_) {
    return no_archive("no tar header stands", block_at_);
  }
  if (!header && link_size_ != 0 && member_.data == block_at_) {
    return damaged(block_at_,
                   shown_name() + " is a hard link with data behind it, which nobody reads alike");
  }
  if (!header) return damaged(block_at_, "the checksum of a header is wrong");
  if (between_) {
    extensions_.next_member();
    member_.begin = block_at_;
  }
  return is_extension(header->type) ? begin_extension(*header) : begin_member(*header, step);
}

DATAFLUX_INLINE result<void> tar_reader::take_behind_zeros(bytes_view block) {
  const bool lone = zeros_ == 1;
  if (!has_good_checksum(block)) {
    // A writer puts two blocks at the end, so there is damage where one was a header.
    return lone ? damaged(block_at_, "what stands behind a lone block of zeros is no header")
                : trailing(block_at_);
  }
  ++counts_.concatenated;
  if (rules_.concatenated == concatenated_rule::error) {
    return error{errc::failed_precondition,
                 (lone ? "a lone block of zeros ends the tar archive, and a member stands behind it"
                       : "another tar archive begins behind the end of one,") +
                     at_offset(block_at_) +
                     "; read it as well by the rule concatenated = read, or write the shard again"};
  }
  zeros_ = 0;
  extensions_.next_archive();
  return {};
}

DATAFLUX_INLINE result<void> tar_reader::begin_extension(const tar_header& header) {
  if (!header.size) return damaged(block_at_, "the size of an extension header is no size");
  if (!extensions_.begin(header.type, *header.size)) {
    return damaged(block_at_, "the extension headers of one member are larger than 1 MiB");
  }
  if (header.type != tar_type::global_records) between_ = false;
  phase_ = phase::extension;
  left_ = *header.size;
  padding_ = tar_padding(*header.size);
  return left_ == 0 ? end_extension() : result<void>{};
}

DATAFLUX_INLINE result<void> tar_reader::take_extension(bytes_view input, tar_step& step) {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
  extensions_.append(input.first(count));
  left_ -= count;
  consume(step, count);
  return left_ == 0 ? end_extension() : result<void>{};
}

DATAFLUX_INLINE result<void> tar_reader::end_extension() {
  phase_ = phase::padding;
  left_ = padding_;
  if (const char* const wrong = extensions_.end()) return damaged(block_at_, wrong);
  return {};
}

DATAFLUX_INLINE result<void> tar_reader::begin_member(const tar_header& header, tar_step& step) {
  between_ = true;
  note_name(header);
  member_.type = header.type;
  member_.data = offset_;
  member_.size = 0;
  link_size_ = header.type == tar_type::hard_link ? header.size.value_or(0) : 0;
  if (header.type == tar_type::sparse || (header.type == tar_type::file && extensions_.sparse())) {
    return error{errc::unimplemented,
                 shown_name() + " is a sparse file, whose data are no range of the shard," +
                     at_offset(member_.begin) +
                     "; write the shard without tar's option --sparse (-S)"};
  }
  const bool is_file = header.type == tar_type::file;
  if (is_file || header.type == tar_type::other) {
    const auto size = extensions_.size() ? extensions_.size() : header.size;
    if (!size || offset_ > most_tar_offset || *size > most_tar_offset - offset_) {
      return damaged(block_at_, "the size of a member is no size");
    }
    member_.size = *size;
  }
  phase_ = phase::data;
  left_ = member_.size;
  padding_ = tar_padding(member_.size);
  file_open_ = is_file;
  step.event = is_file ? tar_event::file : tar_event::left_out;
  if (!is_file) count_left_out(header.type);
  return {};
}

DATAFLUX_INLINE void tar_reader::note_name(const tar_header& header) {
  if (const auto name = extensions_.name()) {
    member_.name = *name;
    return;
  }
  name_.assign(header.prefix);
  if (!header.prefix.empty()) name_ += '/';
  member_.name = name_.append(header.name);
}

DATAFLUX_INLINE void tar_reader::count_left_out(tar_type type) noexcept {
  switch (type) {
    case tar_type::hard_link:
      ++counts_.hard_links;
      break;
    case tar_type::symlink:
      ++counts_.symlinks;
      break;
    case tar_type::directory:
      ++counts_.directories;
      break;
    case tar_type::device:
      ++counts_.devices;
      break;
    default:
      ++counts_.other;
  }
}

DATAFLUX_INLINE void tar_reader::take_data(bytes_view input, tar_step& step) noexcept {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
  left_ -= count;
  consume(step, count);
  if (!file_open_) return;
  step.event = tar_event::data;
  step.data = input.first(count);
}

DATAFLUX_INLINE std::uint64_t tar_reader::skippable() const noexcept {
  switch (phase_) {
    case phase::data:
      return left_ + padding_;
    case phase::padding:
      return left_;
    case phase::rest:
      return byte_range::to_end;
    default:
      return 0;
  }
}

DATAFLUX_INLINE void tar_reader::skip(std::uint64_t count) noexcept {
  offset_ += count;
  if (phase_ == phase::rest) {
    counts_.bytes_behind += count;
    return;
  }
  const std::uint64_t of_left = std::min(count, left_);
  left_ -= of_left;
  if (phase_ == phase::data) padding_ -= count - of_left;
}

DATAFLUX_INLINE result<void> tar_reader::closed() {
  if (failure_) return *failure_;
  result<void> good;
  if (phase_ == phase::header) {
    good = closed_between_members();
  } else if (phase_ != phase::rest) {
    good = closed_within_member();
  }
  if (!good) failure_ = good.error();
  return good;
}

DATAFLUX_INLINE result<void> tar_reader::closed_between_members() {
  const std::uint64_t at = offset_ - filled_;
  if (offset_ == begin_) {
    return no_archive("no byte stands", at);
  }
  if (!is_zero(bytes_view{block_}.first(filled_))) {
    if (zeros_ == 2) return trailing(at);
    if (at != begin_) return damaged(at, "the object ends within a header");
    return no_archive("the object is too short for a tar header", at);
  }
  if (!between_) return damaged(member_.begin, "an extension header belongs to no member");
  if (zeros_ < 2) ++counts_.missing_ends;
  return {};
}

DATAFLUX_INLINE result<void> tar_reader::closed_within_member() {
  if (phase_ == phase::data && left_ != 0) {
    return damaged(offset_, "the object ends within the data of " + shown_name() +
                                ", which lacks " + std::to_string(left_) + " of " +
                                std::to_string(member_.size) + " bytes");
  }
  if (phase_ == phase::extension) {
    return damaged(offset_, "the object ends within an extension header");
  }
  if (left_ + (phase_ == phase::data ? padding_ : 0) == 0) return closed_between_members();
  return damaged(offset_, "the object ends within the zeros that fill the last block");
}

DATAFLUX_INLINE result<void> tar_reader::damaged(std::uint64_t at, std::string_view what) {
  ++counts_.damaged;
  if (rules_.damaged == damaged_rule::end) {
    end_early(at);
    return {};
  }
  return error{errc::data_loss,
               ("the tar archive is damaged" + at_offset(at) + ": ")
                   .append(what)
                   .append("; write the shard again, or read what is before by the rule "
                           "damaged = end")};
}

DATAFLUX_INLINE result<void> tar_reader::trailing(std::uint64_t at) {
  ++counts_.trailing;
  if (rules_.trailing == trailing_rule::ignore) {
    end_early(at);
    return {};
  }
  return error{errc::failed_precondition,
               "bytes that are no tar header stand behind the end of the archive," + at_offset(at) +
                   "; cut them off, or pass over them by the rule trailing = ignore"};
}

DATAFLUX_INLINE void tar_reader::end_early(std::uint64_t at) noexcept {
  phase_ = phase::rest;
  file_open_ = false;
  counts_.bytes_behind += offset_ - at;
}

DATAFLUX_INLINE std::string tar_reader::shown_name() const {
  constexpr std::size_t most = 200;
  const std::string_view sparse = extensions_.sparse_name();
  const std::string_view name = sparse.empty() ? member_.name : sparse;
  std::string shown{'"'};
  append_escaped(shown, whole_characters(name.substr(0, most)));
  return shown.append(name.size() > most ? "...\"" : "\"");
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
