#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// One pass over a page of objects.list (protocol.md 1.1): from the bytes received to the caller's
/// columns, with no tree and no copy between.
namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// Which optional members of an item are read; a bit set. Members not asked for are skipped, so
/// that a page that carries more costs little more.
enum class object_fields : std::uint32_t {
  basic = 0,  ///< name, size, generation, crc32c: always read
  metageneration = 1U << 0,
  md5_hash = 1U << 1,
  etag = 1U << 2,
  content_type = 1U << 3,
  content_encoding = 1U << 4,
  storage_class = 1U << 5,
  time_created = 1U << 6,
  updated = 1U << 7,
  metadata = 1U << 8,
};
constexpr object_fields operator|(object_fields a, object_fields b) noexcept {
  return static_cast<object_fields>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool has(object_fields set, object_fields field) noexcept {
  return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(field)) != 0;
}

/// One object of a page. Every string_view, unescaped, is valid only during the visitor's call.
struct object_list_item {
  std::string_view name{};  ///< never empty
  std::uint64_t size{0};    ///< in bytes, at most 2^63 - 1
  std::int64_t generation{0};
  std::optional<std::uint32_t> crc32c{};  ///< nullopt when the page gives none

  // Only those asked for, and only if present: else 0 or empty. Texts as the service wrote them.
  std::int64_t metageneration{0};
  std::string_view md5_hash{};  ///< base64, see decode_base64()
  std::string_view etag{};
  std::string_view content_type{};
  std::string_view content_encoding{};
  std::string_view storage_class{};
  std::string_view time_created{};  ///< see parse_timestamp()
  std::string_view updated{};       ///< see parse_timestamp()
  std::string_view metadata{};      ///< a JSON object whose values are strings
};

/// Takes a page's content in the page's order. Implementations may throw only std::bad_alloc.
class object_list_visitor {
 public:
  virtual ~object_list_visitor() = default;
  virtual void on_object(const object_list_item& item) = 0;
  /// A folded name, delimiter included; valid only during the call.
  virtual void on_prefix(std::string_view prefix) = 0;
};

/// What closes a page.
struct object_list_end {
  std::string next_page_token{};  ///< empty: this was the last page
  std::size_t objects{0};         ///< calls of on_object
  std::size_t prefixes{0};        ///< calls of on_prefix
};

/// Reads the page in `bytes` and calls `visitor` for every item and prefix as it is met.
///
/// `capacity` counts the readable bytes from `bytes.data()` on. With at least `buffer_slack` bytes
/// behind the page (every buffer of this library has them) the page is read in place; with fewer it
/// is copied first. `bytes` is only read and may go once the call returns.
///
/// Keys may come in any order, unknown ones are skipped, `items` and `prefixes` may be missing, and
/// integers may be strings or numbers. A size that is left out is 0. But no object may vanish in
/// silence, so that these are errors: a page that is not one whole JSON object in UTF-8; an item
/// without name or generation, or without size where its crc32c is not that of no bytes; one of
/// those, or a crc32c, that is malformed, out of range or repeated; a key of the page that is
/// repeated or of the wrong kind; an item's key that is spelled with an escape. Errors are
/// `internal` (the service broke its contract), and name the member and the byte offset where
/// known; what the visitor saw before is to be thrown away. They are retryable, since the page may
/// have been cut or garbled on its way; but not of an item that ends well and lacks a member, which
/// it will lack the next time, too. What is skipped is checked for UTF-8 and balance only.
///
/// Thread-safe; scratch memory (about six bytes for each of the longest page's) is kept per thread.
/// A visitor may itself read a page. Cost: about a tenth of a microsecond an object; allocations
/// only when a page is longer than all before it on this thread.
result<object_list_end> parse_object_list(bytes_view bytes, std::size_t capacity,
                                          object_fields fields, object_list_visitor& visitor);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/object_list.ipp>
#endif
