#pragma once

#include <dataflux/codec/detail/plain_json.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace dataflux::inline DATAFLUX_ABI::codec {

namespace detail {

/// 16 bytes a step, or eight: there the bytes above one that is marked may be marked by its borrow,
/// so that the lowest counts.
DATAFLUX_INLINE const char* find_json_mark(const char* at, const char* end) noexcept {
#if defined(__SSE2__)
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = ::_mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i control = ::_mm_cmpeq_epi8(::_mm_min_epu8(bytes, ::_mm_set1_epi8(0x1f)), bytes);
    const __m128i other = ::_mm_or_si128(::_mm_cmpeq_epi8(bytes, ::_mm_set1_epi8('"')),
                                         ::_mm_cmpeq_epi8(bytes, ::_mm_set1_epi8('\\')));
    const int marks = ::_mm_movemask_epi8(::_mm_or_si128(control, other));
    if (marks != 0) return at + std::countr_zero(static_cast<unsigned>(marks));
  }
#endif
  constexpr std::uint64_t ones = 0x0101010101010101U;
  const auto zeros = [](std::uint64_t bytes) { return (bytes - ones) & ~bytes; };
  for (; end - at >= 8; at += 8) {
    const std::uint64_t text = load_eight(at);
    const std::uint64_t marks = (((text - ones * 0x20) & ~text) | zeros(text ^ (ones * '"')) |
                                 zeros(text ^ (ones * '\\'))) &
                                (ones * 0x80);
    if (marks != 0) return at + std::countr_zero(marks) / 8;
  }
  const auto is_mark = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
  };
  while (at != end && !is_mark(*at)) ++at;
  return at;
}

/// JSON's grammar, of what 64 bits surely hold.
inline bool is_plain_integer(std::string_view word) noexcept {
  if (!word.empty() && word.front() == '-') word.remove_prefix(1);
  if (word.empty() || word.size() > 18 || (word.front() == '0' && word.size() > 1)) return false;
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace detail

DATAFLUX_INLINE std::optional<std::int64_t> plain_value::int64() const noexcept {
  if (kind_ != json_kind::string && kind_ != json_kind::number) return std::nullopt;
  std::int64_t value = 0;
  const char* const end = token_.data() + token_.size();
  const auto [stop, code] = std::from_chars(token_.data(), end, value);
  if (code != std::errc{} || stop != end) return std::nullopt;
  return value;
}

DATAFLUX_INLINE plain_reader::plain_reader(std::string_view text) noexcept
    : at_(text.data()), end_(text.data() + text.size()) {
  if (take() != '{') give_up();
}

DATAFLUX_INLINE bool plain_reader::next() noexcept {
  if (depth_ <= 0) return false;
  bool first = std::exchange(opened_, false);
  if (first && depth_ == 2) parent_ = key_;
  char c = take();
  while (c == '}') {
    if (--depth_ == 0) return false;
    parent_ = {};
    first = false;
    c = take();
  }
  if (!first) {
    if (c != ',') return give_up();
    c = take();
  }
  if (c != '"' || !read_string(key_) || take() != ':') return give_up();
  return read_value() || give_up();
}

/// From behind its first quotation mark on.
DATAFLUX_INLINE bool plain_reader::read_string(std::string_view& out) noexcept {
  const char* const mark = detail::find_json_mark(at_, end_);
  if (mark == end_ || *mark != '"') return false;
  out = {at_, static_cast<std::size_t>(mark - at_)};
  at_ = mark + 1;
  return true;
}

DATAFLUX_INLINE bool plain_reader::read_value() noexcept {
  if (at_ == end_) return false;
  if (*at_ == '"') {
    ++at_;
    value_.kind_ = json_kind::string;
    return read_string(value_.token_);
  }
  if (*at_ != '{') return read_word();
  if (depth_ == 2) return false;
  ++at_;
  depth_ = 2;
  opened_ = true;
  value_.kind_ = json_kind::object;
  return true;
}

/// An integer, or null, true, false.
DATAFLUX_INLINE bool plain_reader::read_word() noexcept {
  const char* const begin = at_;
  while (at_ != end_ && *at_ != ',' && *at_ != '}') ++at_;
  const std::string_view word{begin, static_cast<std::size_t>(at_ - begin)};
  value_.token_ = word;
  if (word == "null") {
    value_.kind_ = json_kind::null;
  } else if (word == "true" || word == "false") {
    value_.kind_ = json_kind::boolean;
  } else {
    value_.kind_ = json_kind::number;
    return detail::is_plain_integer(word);
  }
  return true;
}

}  // namespace dataflux::inline DATAFLUX_ABI::codec
