#pragma once

#include <dataflux/codec/detail/decimal.hpp>
#include <dataflux/codec/detail/json.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

/// JSON objects as the service writes them: no white space between tokens, no escape in a string.
/// Such a text is read where it lies, in one pass, without memory. Whatever is written in another
/// way is no mistake: plain_reader gives up, and who wants it reads it by json_document.
namespace dataflux::inline DATAFLUX_ABI::codec {

namespace detail {

/// The first quotation mark, backslash or control character; `end` if there is none.
const char* find_json_mark(const char* at, const char* end) noexcept;

}  // namespace detail

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
/// instructions a byte, no allocation.
class plain_reader {
 public:
  /// `text` begins with the object; anything may follow it.
  explicit plain_reader(std::string_view text) noexcept;

  /// The next member; false at the end of the object, and for good where the text is not plain.
  bool next() noexcept;
  /// The object was read to its end.
  bool complete() const noexcept { return depth_ == 0; }
  /// What follows the object, once it is complete.
  std::string_view rest() const noexcept { return {at_, static_cast<std::size_t>(end_ - at_)}; }

  /// Of the last member. The parent is empty for a member of the object itself.
  std::string_view parent() const noexcept { return parent_; }
  std::string_view key() const noexcept { return key_; }
  const plain_value& value() const noexcept { return value_; }

 private:
  char take() noexcept { return at_ == end_ ? '\0' : *at_++; }
  bool read_string(std::string_view& out) noexcept;
  bool read_value() noexcept;
  bool read_word() noexcept;
  bool give_up() noexcept {
    depth_ = -1;
    return false;
  }

  const char* at_;
  const char* end_;
  int depth_{1};  ///< of objects that are open; -1: given up
  bool opened_{true};
  std::string_view parent_{};
  std::string_view key_{};
  plain_value value_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/plain_json.ipp>
#endif
