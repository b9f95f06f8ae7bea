#pragma once

#include <dataflux/codec/detail/decimal.hpp>
#include <dataflux/codec/detail/json.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

/// JSON objects as the service writes them: no white space between tokens, no escape in a string.
/// Such a text is read where it lies, in one pass, without memory. Whatever is written in another
/// way is no mistake: plain_reader gives up, and who wants it reads it by json_document.
namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// The first quotation mark, backslash or control character; `end` if there is none.
const char* find_json_mark(const char* at, const char* end) noexcept;

struct json_block {
  static constexpr std::ptrdiff_t size = 64;
  std::uint64_t marks{0};  ///< a bit for each byte that find_json_mark() looks for
  bool ascii{true};
};
/// The first 64 bytes, or as many as there are.
json_block look_at_json(const char* at, const char* end) noexcept;

/// JSON's grammar, of what 64 bits surely hold.
bool is_plain_integer(std::string_view word) noexcept;

/// A place in a text of JSON that moves forward. Quotation marks are looked for in 64 bytes at a
/// time. Inline, so that it is in registers: to hand it to a function that is none keeps it in
/// memory.
class plain_text {
 public:
  explicit plain_text(std::string_view text) noexcept
      : at_(text.data()), end_(text.data() + text.size()) {}

  bool at_end() const noexcept { return at_ == end_; }
  /// The next character; NUL at the end.
  char peek() const noexcept { return at_ == end_ ? '\0' : *at_; }
  char take() noexcept { return at_ == end_ ? '\0' : *at_++; }
  /// Passes the first `count` characters of rest().
  void skip(std::size_t count) noexcept { at_ += count; }
  /// A string without an escape, from behind its first quotation mark to behind its last.
  [[gnu::always_inline]] bool take_string(std::string_view& out) noexcept {
    if (next_mark() != at_ - 1) return false;
    const char* const mark = next_mark();
    if (mark == end_ || *mark != '"') return false;
    out = {at_, static_cast<std::size_t>(mark - at_)};
    at_ = mark + 1;
    return true;
  }
  std::string_view rest() const noexcept { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  /// No byte of the strings that were taken is above 0x7f; false may be wrong.
  bool ascii() const noexcept { return ascii_; }

 private:
  [[gnu::always_inline]] const char* next_mark() noexcept {
    while (marks_ == 0) {
      if (following_ == end_) return end_;
      block_ = following_;
      following_ += std::min(json_block::size, end_ - block_);
      const json_block found = look_at_json(block_, end_);
      marks_ = found.marks;
      ascii_ = ascii_ && found.ascii;
    }
    const char* const mark = block_ + std::countr_zero(marks_);
    marks_ &= marks_ - 1;
    return mark;
  }

  const char* at_;
  const char* end_;
  const char* block_{at_};      ///< whose marks are known
  const char* following_{at_};  ///< the next one
  /// What find_json_mark() finds, a bit a byte, without those that were passed.
  std::uint64_t marks_{0};
  bool ascii_{true};
};

/// A value that plain_reader has met; asked as a json_value is. Points into the text.
class plain_value {
 public:
  /// One of null, boolean, number (an integer), string and object.
  json_kind kind() const noexcept { return kind_; }
  std::optional<std::string_view> text() const noexcept {
    return kind_ == json_kind::string ? std::optional{token_} : std::nullopt;
  }
  std::optional<std::int64_t> int64() const noexcept;

 private:
  friend class plain_reader;
  std::string_view token_{};
  json_kind kind_{json_kind::absent};
};

/// Gives the members of an object in their order. An object among them is entered: its members come
/// next, with its key as their parent().
///
///     plain_reader in{text};
///     while (in.next()) take(in.parent(), in.key(), in.value());
///     if (!in.complete()) return read_by_json_document(text);
///
/// What it gives is what json_document would: it gives up on escapes, white space, arrays, numbers
/// that are no integers, objects three deep, and on anything malformed. It does not look at UTF-8.
///
/// Lifetime: the text is borrowed. Threads: not safe; objects are independent. Cost: some two
/// instructions a byte, no allocation: quotation marks are looked for in 64 bytes at a time.
/// Inline, so that its state is in registers.
class plain_reader {
 public:
  /// `text` begins with the object; anything may follow it.
  explicit plain_reader(std::string_view text) noexcept : in_(text) {
    if (in_.take() != '{') give_up();
  }

  /// The next member; false at the end of the object, and for good where the text is not plain.
  [[gnu::always_inline]] bool next() noexcept {
    if (depth_ <= 0) return false;
    bool first = std::exchange(opened_, false);
    if (first && depth_ == 2) parent_ = key_;
    char c = in_.take();
    while (c == '}') {
      if (--depth_ == 0) return false;
      parent_ = {};
      first = false;
      c = in_.take();
    }
    if (!first) {
      if (c != ',') return give_up();
      c = in_.take();
    }
    if (c != '"' || !in_.take_string(key_) || in_.take() != ':') return give_up();
    return read_value() || give_up();
  }
  /// The object was read to its end.
  bool complete() const noexcept { return depth_ == 0; }
  /// No byte of it is above 0x7f; false may be wrong. Once it is complete.
  bool ascii() const noexcept { return in_.ascii(); }
  /// What follows the object, once it is complete.
  std::string_view rest() const noexcept { return in_.rest(); }

  /// Of the last member. The parent is empty for a member of the object itself.
  std::string_view parent() const noexcept { return parent_; }
  std::string_view key() const noexcept { return key_; }
  const plain_value& value() const noexcept { return value_; }

 private:
  [[gnu::always_inline]] bool read_value() noexcept {
    if (in_.peek() == '"') {
      in_.take();
      value_.kind_ = json_kind::string;
      return in_.take_string(value_.token_);
    }
    if (in_.peek() != '{') return read_word();
    if (depth_ == 2) return false;
    in_.take();
    depth_ = 2;
    opened_ = true;
    value_.kind_ = json_kind::object;
    return true;
  }
  /// An integer, or null, true, false.
  [[gnu::always_inline]] bool read_word() noexcept {
    const std::string_view rest = in_.rest();
    const std::string_view word = rest.substr(0, rest.find_first_of(",}"));
    in_.skip(word.size());
    value_.token_ = word;
    if (word == "null") {
      value_.kind_ = json_kind::null;
    } else if (word == "true" || word == "false") {
      value_.kind_ = json_kind::boolean;
    } else {
      value_.kind_ = json_kind::number;
      return is_plain_integer(word);
    }
    return true;
  }
  bool give_up() noexcept {
    depth_ = -1;
    return false;
  }

  plain_text in_;
  int depth_{1};  ///< of objects that are open; -1: given up
  bool opened_{true};
  std::string_view parent_{};
  std::string_view key_{};
  plain_value value_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/plain_json.ipp>
#endif
