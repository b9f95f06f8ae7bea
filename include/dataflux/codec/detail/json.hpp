#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A reader for small JSON documents: tokens, credential files, error bodies, single object
/// resources. Pages of a listing have their own, faster door: codec/detail/object_list.hpp.
///
/// The document is read once into memory of its own; values are light handles into it. A question
/// that the document does not answer (no such key, another kind) gives an absent value or nullopt,
/// never a failure. So a document from a server of any make is read by a chain of questions:
///
///     auto document = codec::json_document::parse(body);
///     if (!document) return document.error();
///     auto status = document->root().find("error").find("code").int64();
namespace dataflux::inline DATAFLUX_ABI::detail::codec {

enum class json_kind : std::uint8_t {
  absent,  ///< nothing is there: the answer to a question that met no value
  null,
  boolean,
  number,
  string,
  array,
  object,
};

struct json_member;

/// One value of a document, borrowed: valid, with every string_view that comes out of it, for as
/// long as the json_document lives (moving the document is fine). Trivial to copy. Reads are
/// thread-safe.
class json_value {
 public:
  /// An absent value.
  json_value() noexcept = default;

  json_kind kind() const noexcept;
  /// True if there is a value, null included.
  explicit operator bool() const noexcept { return handle_[0] != 0; }

  /// The member of an object by its unescaped key (the first, if it is repeated). Absent when this
  /// is no object or has no such key. Cost: linear in the object's members.
  json_value find(std::string_view key) const noexcept;

  /// The unescaped text of a string; nullopt for any other kind.
  std::optional<std::string_view> text() const noexcept;
  std::optional<bool> boolean() const noexcept;

  /// An integer written as a number or as a decimal string, since the service writes 64-bit
  /// integers as strings and its emulators do not always (protocol.md 0). nullopt if there is no
  /// integer, or one that does not fit. Strings: optional '-', then digits only.
  std::optional<std::int64_t> int64() const noexcept;
  std::optional<std::uint64_t> uint64() const noexcept;

  /// An array's values or an object's members in the document's order; empty for any other kind.
  /// Cost: one allocation, linear time.
  std::vector<json_value> elements() const;
  std::vector<json_member> members() const;

  /// Text for a person: a string as it is, any other value as compact JSON, absent as "". For
  /// error messages, which some servers send as objects (protocol.md 6.3).
  std::string to_string() const;

 private:
  friend class json_document;
  using handle = std::array<std::uintptr_t, 2>;
  explicit json_value(handle h) noexcept : handle_(h) {}
  template <class T>
  std::optional<T> integer() const noexcept;

  handle handle_{};
};

struct json_member {
  std::string_view key;  ///< unescaped
  json_value value;
};

/// A parsed document. Movable; owns all that its values and strings point into.
class json_document {
 public:
  /// Longest document accepted: more would not be one of the small ones this reader is for.
  static constexpr std::size_t max_size = std::size_t{16} << 20;

  /// Reads a whole document: grammar and UTF-8 are checked, nesting may be 1,000 deep. `bytes` is
  /// copied; it needs no padding and may go once the call returns.
  ///
  /// Errors: invalid_argument, saying what is wrong (malformed, too deep, or longer than
  /// `max_size`), without quoting the document. Cost: some allocations; memory of about five times
  /// the document. Thread-safe; the parser's scratch memory is kept per thread.
  static result<json_document> parse(bytes_view bytes);

  json_document(json_document&& other) noexcept;
  json_document& operator=(json_document&& other) noexcept;
  ~json_document();

  /// The top value: of any kind, never absent.
  json_value root() const noexcept;

 private:
  struct tape;
  explicit json_document(std::unique_ptr<tape> parsed) noexcept;
  std::unique_ptr<tape> tape_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/json.ipp>
#endif
